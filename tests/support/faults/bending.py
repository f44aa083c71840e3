"""How a fault is planted: what publishes is changed for a block, and is as it was afterwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.sampler import two_sided_sampler

Cells: TypeAlias = NDArray[np.int64]
Kind: TypeAlias = Literal["scale", "support", "reuse", "correlation", "position", "mechanism"]
Severity: TypeAlias = Literal["serious", "moderate", "slight"]


class Plant(Protocol):
    """A function that changes what publishes, and says in its docstring what goes wrong."""

    __name__: str

    def __call__(self, patch: pytest.MonkeyPatch, /) -> None: ...


class Noised(NamedTuple):
    """Some counts, rows by columns, and the sound noise that was drawn for them."""

    truth: Cells
    noise: Cells
    mechanism: GeometricMechanism

    @property
    def rows(self) -> Cells:
        """The number of each cell's row, to compare with a row of cells."""
        return np.arange(self.truth.shape[0])[:, None]

    @property
    def columns(self) -> Cells:
        """The number of each cell's column."""
        return np.arange(self.truth.shape[1])[None, :]

    def again(self, times: Fraction | int = 1) -> Cells:
        """As many independent draws, at the rate or some ``times`` the rate."""
        sampler = two_sided_sampler(self.mechanism.rate * times)
        drawn = sampler.draw(self.truth.size, self.mechanism._new_source())
        return drawn.reshape(self.truth.shape)

    def bits(self, number: int) -> Cells:
        """For each cell a uniform number below 2^``number``, at most 32."""
        drawn = np.empty(self.truth.size, np.uint32)
        self.mechanism._new_source().fill(drawn.view(np.uint8))
        return (drawn >> np.uint32(32 - number)).astype(np.int64).reshape(self.truth.shape)


Bend: TypeAlias = Callable[[Noised], Cells]


def whole(values: object) -> Cells:
    """Numbers without a fraction, as integers."""
    return np.asarray(values).astype(np.int64)


def planted(
    kind: Kind, severity: Severity, way: str, counts: str, smallest: str
) -> Callable[[Plant], "PlantedFault"]:
    """Make a fault of what plants it; see `PlantedFault` for the rest."""

    def fault(plant: Plant) -> PlantedFault:
        return PlantedFault(plant, kind, severity, way, counts, smallest)

    return fault


def bent(
    kind: Kind, severity: Severity, way: str, counts: str, smallest: str
) -> Callable[[Bend], "PlantedFault"]:
    """Make a fault of what noise becomes, on every way to publish cells."""

    def fault(bend: Bend) -> PlantedFault:
        def plant(patch: pytest.MonkeyPatch, /) -> None:
            bend_noise(patch, bend)

        return PlantedFault(wraps(bend)(plant), kind, severity, way, counts, smallest)

    return fault


@dataclass(frozen=True)
class PlantedFault:
    """A fault, what kind it is, and where it shows."""

    plant: Plant
    kind: Kind
    severity: Severity
    """serious: some reader learns a count, or a promise is off by more than half; slight: by less
    than a twentieth, or in what next to never happens."""
    way: str
    """One of `support.unlike_counts.WAYS` on which it shows."""
    counts: str
    """Which of `unlike_counts` it shows on, at their usual size."""
    smallest: str
    """The smallest setting in which it matters."""

    @property
    def name(self) -> str:
        """What it is called, as the function that plants it."""
        return self.plant.__name__

    @property
    def what(self) -> str:
        """What goes wrong, in a sentence or two."""
        return str(self.plant.__doc__)

    @contextmanager
    def planted(self) -> Iterator[None]:
        """A block within which releases are faulty; what was changed is changed back."""
        with pytest.MonkeyPatch.context() as patch:
            self.plant(patch)
            yield


def bend_noise(patch: pytest.MonkeyPatch, bend: Bend) -> None:
    """Add what ``bend`` makes of the noise in its place, on every way to publish cells."""
    sparse, dense = GeometricMechanism.sparse, GeometricMechanism.dense

    def bent(mechanism: GeometricMechanism, truth: Cells, noised: Cells) -> Cells:
        if not truth.size:
            return noised
        return truth + bend(Noised(truth, noised - truth, mechanism))

    def bent_sparse(
        self: GeometricMechanism,
        counts: csr_array | csr_matrix,
        *,
        threshold: int | None = None,
        threads: int | None = None,
    ) -> csr_array:
        noised = sparse(self, counts, threads=threads).toarray()
        return csr_array(_kept(bent(self, counts.toarray().astype(np.int64), noised), threshold))

    def bent_dense(
        self: GeometricMechanism,
        counts: NDArray[np.integer],
        *,
        threshold: int | None = None,
        threads: int | None = None,
    ) -> Cells:
        truth = np.atleast_2d(np.asarray(counts)).astype(np.int64)
        noised = np.atleast_2d(dense(self, counts, threads=threads))
        return _kept(bent(self, truth, noised), threshold).reshape(np.shape(counts))

    patch.setattr(GeometricMechanism, "sparse", bent_sparse)
    patch.setattr(GeometricMechanism, "dense", bent_dense)


def bend_counts(patch: pytest.MonkeyPatch, bend: Callable[[Cells], Cells]) -> None:
    """Noise what ``bend`` makes of the counts in their place."""
    sparse, dense = GeometricMechanism.sparse, GeometricMechanism.dense

    def bent_sparse(
        self: GeometricMechanism, counts: csr_array, *, threshold: int | None = None, **how: int
    ) -> csr_array:
        return sparse(self, csr_array(bend(counts.toarray())), threshold=threshold, **how)

    def bent_dense(
        self: GeometricMechanism, counts: Cells, *, threshold: int | None = None, **how: int
    ) -> Cells:
        return dense(self, bend(np.asarray(counts)), threshold=threshold, **how)

    patch.setattr(GeometricMechanism, "sparse", bent_sparse)
    patch.setattr(GeometricMechanism, "dense", bent_dense)


def _kept(cells: Cells, threshold: int | None) -> Cells:
    return cells if threshold is None else cells * (cells >= threshold)

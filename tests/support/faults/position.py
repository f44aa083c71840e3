"""Less noise somewhere: in a row, a column, a stride, a shard, or from some place on."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sottovoce_spark._noise import Block, NoiseTask

from sottovoce.privacy import mechanism, sampler
from sottovoce.privacy._laws import TwoSidedGeometric
from sottovoce.privacy.randomness import Keystream
from sottovoce.privacy.sampler import TableSampler
from sottovoce.release.compression import frequency
from sottovoce.release.compression.maps import GroupedCompression
from sottovoce.release.counts import Counts
from support.faults.bending import Cells, Noised, bend_noise, bent, planted, whole


def _weaken(patch: pytest.MonkeyPatch, where: str, times: int | None) -> None:
    """Noise at some ``times`` the rate in some places, or none there."""

    def weaker(cells: Noised) -> Cells:
        (rows, columns), row, column = cells.truth.shape, cells.rows, cells.columns
        places = {
            "first row": row == 0,
            "last row": row == rows - 1,
            "every seventh row": row % 7 == 6,
            "first column": column == 0,
            "last column": column == columns - 1,
            "from the ninth column on": column >= 8,
            "second half of the rows": row >= (rows + 1) // 2,
            "first cell": (row == 0) & (column == 0),
        }
        weak = cells.again(times) if times else np.zeros_like(cells.noise)
        return np.where(places[where], weak, cells.noise)

    bend_noise(patch, weaker)


@planted("position", "serious", "visiting", "few ones", "200 words, one row")
def first_row_has_half(patch: pytest.MonkeyPatch) -> None:
    """The first document is noised at twice the rate."""
    _weaken(patch, "first row", 2)


@planted("position", "serious", "visiting", "few ones", "one document")
def last_row_has_none(patch: pytest.MonkeyPatch) -> None:
    """The loop over documents ends one too early."""
    _weaken(patch, "last row", None)


@planted("position", "serious", "sharded", "few ones", "7 documents")
def every_seventh_row_has_half(patch: pytest.MonkeyPatch) -> None:
    """Every seventh document is noised at twice the rate."""
    _weaken(patch, "every seventh row", 2)


@bent("position", "moderate", "visiting", "few ones", "1,000 cells")
def second_half_has_four_fifths(cells: Noised) -> Cells:
    """From the middle on, documents are noised at five fourths of the rate."""
    late = cells.rows >= (cells.truth.shape[0] + 1) // 2
    return np.where(late, cells.again(Fraction(5, 4)), cells.noise)


@planted("position", "serious", "visiting", "few ones", "200 documents")
def first_column_has_half(patch: pytest.MonkeyPatch) -> None:
    """The first word is noised at twice the rate."""
    _weaken(patch, "first column", 2)


@planted("position", "serious", "summed", "few ones", "one document")
def last_column_has_none(patch: pytest.MonkeyPatch) -> None:
    """The loop over words ends one too early."""
    _weaken(patch, "last column", None)


@planted("position", "serious", "visiting", "few ones", "nine words")
def only_first_columns_have_noise(patch: pytest.MonkeyPatch) -> None:
    """Only the first eight cells of every document are noised."""
    _weaken(patch, "from the ninth column on", None)


@planted("position", "serious", "constant-work", "few ones", "16 cells")
def every_sixteenth_cell_has_none(patch: pytest.MonkeyPatch) -> None:
    """Where cells are noised in one run, each sixteenth is left out: the tail of a vector."""
    _leave_out(patch, 15, 16)


@planted("position", "moderate", "sharded", "few ones", "the first cell of a release or shard")
def first_cell_of_a_run_has_none(patch: pytest.MonkeyPatch) -> None:
    """Where cells are noised in one run, the first is left out."""
    _leave_out(patch, 0, 1 << 40)


def _leave_out(patch: pytest.MonkeyPatch, first: int, stride: int) -> None:
    add = TableSampler.add_to

    def without(self: TableSampler, out: NDArray[np.signedinteger], source: Keystream) -> None:
        kept = out[first::stride].copy()
        add(self, out, source)
        if isinstance(self.law, TwoSidedGeometric):
            out[first::stride] = kept

    patch.setattr(TableSampler, "add_to", without)


@planted("position", "moderate", "sharded", "a square of seven", "cells that are no multiple of 8")
def rest_of_a_run_has_none(patch: pytest.MonkeyPatch) -> None:
    """Runs of cells are noised in whole vectors of eight; what remains is left out."""
    add = TableSampler.add_to

    def in_vectors(self: TableSampler, out: NDArray[np.signedinteger], source: Keystream) -> None:
        whole = out.size - out.size % 8 if isinstance(self.law, TwoSidedGeometric) else out.size
        add(self, out[:whole], source)

    patch.setattr(TableSampler, "add_to", in_vectors)


@planted("position", "serious", "visiting", "few ones", "4,097 cells in one run")
def only_the_first_block_has_noise(patch: pytest.MonkeyPatch) -> None:
    """A run of more than 4,096 cells is noised up to there: a length of the wrong kind."""
    add = TableSampler.add_to

    def first_block(self: TableSampler, out: NDArray[np.signedinteger], source: Keystream) -> None:
        add(self, out[:4096] if isinstance(self.law, TwoSidedGeometric) else out, source)

    patch.setattr(TableSampler, "add_to", first_block)
    patch.setattr(sampler, "_BLOCK", 4096)


@planted(
    "position", "serious", "constant-work", "enough for two threads", "two threads, 2^19 cells"
)
def last_part_has_none(patch: pytest.MonkeyPatch) -> None:
    """Work is split for threads, and the last part is lost (its noise, not its counts)."""
    split = mechanism._split

    def lossy(number: int, parts: int) -> list[tuple[int, int]]:
        found = split(number, parts)
        return [*found[:-1], (found[-1][0],) * 2] if parts > 1 else found

    patch.setattr(mechanism.GeometricMechanism, "dense", _dense_by(lossy))


def _dense_by(split: object) -> object:
    dense = mechanism.GeometricMechanism.dense

    def lossy(self: mechanism.GeometricMechanism, counts: Cells, **how: int) -> Cells:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mechanism, "_split", split)
            return dense(self, counts, **how)

    return lossy


def _noised_but(patch: pytest.MonkeyPatch, last: bool, times: int | None) -> None:
    noised = NoiseTask.add_noise

    def lossy(self: NoiseTask, block: Block, counts: Counts) -> Counts:
        places = [each.place for each in self.blocks.values()] or [0]
        if block.place != (max(places) if last else min(places)):
            return noised(self, block, counts)
        compressed = self.compress_counts(counts, block.first_document)
        if times is None:
            return compressed
        return mechanism.GeometricMechanism(Fraction(self.rate) * times).sparse(
            compressed, threshold=self.threshold
        )

    patch.setattr(NoiseTask, "add_noise", lossy)


@planted("position", "serious", "sharded", "few ones", "two shards")
def last_shard_has_none(patch: pytest.MonkeyPatch) -> None:
    """The last shard of a sharded release is written as it was counted."""
    _noised_but(patch, last=True, times=None)


@planted("position", "serious", "sharded", "few ones", "200 cells")
def first_shard_has_half(patch: pytest.MonkeyPatch) -> None:
    """The first shard of a sharded release is noised at twice the rate."""
    _noised_but(patch, last=False, times=2)


@planted("position", "serious", "several maps", "few ones", "two maps, 200 cells")
def only_the_first_map_is_noised(patch: pytest.MonkeyPatch) -> None:
    """Of several maps, documents of the first get noise; of the others, half as much."""
    transform = GroupedCompression.transform
    groups: list[int] = []

    def noted(self: GroupedCompression, X: Counts) -> Counts:  # noqa: N803 - scikit-learn's name
        groups[:] = [self.groups]
        return transform(self, X)

    def weaker(cells: Noised) -> Cells:
        own = cells.rows % (groups[0] if groups else 1) == 0
        return np.where(own, cells.noise, cells.again(2))

    patch.setattr(GroupedCompression, "transform", noted)
    bend_noise(patch, weaker)


@planted("position", "serious", "local prior", "few ones", "more documents than one piece")
def prior_is_noised_once(patch: pytest.MonkeyPatch) -> None:
    """Of the documents that a local prior reads in pieces, only the first piece is noised."""
    noised = frequency._add_noise
    rows: list[int] = []

    def first_only(counts: Counts, noise: frequency.Noise, rate: Fraction) -> Counts:
        rows.append(counts.shape[0])
        return noised(counts, noise, rate) if len(rows) == 1 else csr_array(counts)

    frequencies = frequency.LocalPrior.frequencies

    def piecewise(
        self: frequency.LocalPrior, counts: Counts, noise: frequency.Noise
    ) -> NDArray[np.float64]:
        rows.clear()
        return frequencies(self, counts, noise)

    patch.setattr(frequency, "_add_noise", first_only)
    patch.setattr(frequency, "ROWS_AT_ONCE", 64)
    patch.setattr(frequency.LocalPrior, "frequencies", piecewise)


@bent("position", "serious", "leaping", "few ones", "nine documents")
def every_second_block_has_none(cells: Noised) -> Cells:
    """Of blocks of eight documents every second loses its noise."""
    return whole(cells.noise * (cells.rows // 8 % 2 == 0))

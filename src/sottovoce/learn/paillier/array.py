"""Arrays of numbers under encryption, in numpy's shapes.

Packed, the last axis lies in the slots of plaintexts: it is added to and multiplied as a whole, and
only the axes before it can be sliced, summed and combined. Unpacked, every number has a ciphertext
of its own and all axes are free. An array carries the exact bound of its slots' integers and its
scale; an operation that could overflow a slot is refused before it happens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.grid import (
    Grid,
    Pair,
    as_grid,
    combinations,
    inverses,
    pair_powers,
    pair_products,
    pair_up,
    plus_plain,
    powers,
    products,
    spread,
)
from sottovoce.learn.paillier.keys import PublicKey
from sottovoce.learn.paillier.slots import (
    Integers,
    SlotPlan,
    as_integers,
    bits_for,
    check_fraction_bits,
    encode,
    largest,
    pack,
)

_FEWEST_PRODUCTS = 128


@dataclass(frozen=True, eq=False)
class EncryptedArray:
    """Encrypted numbers; made by `encrypt`, opened by `decrypt`.

    ``bound`` is the largest size of a slot's integer, and the number it stands for is that integer
    over 2^``fraction_bits``. ``blinded`` says whether the ciphertexts were blinded since they were
    last computed on; only such ones leave the process (`array_to_bytes` sees to it).
    """

    public: PublicKey
    plan: SlotPlan
    ciphertexts: Grid
    length: int
    bound: int
    fraction_bits: int
    blinded: bool = False

    # numpy's operators give way to ours.
    __array_ufunc__ = None

    @property
    def is_packed(self) -> bool:
        """Whether the last axis lies in slots."""
        return self.plan.slots > 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        grid = self.ciphertexts.shape
        return (*grid[:-1], self.length) if self.is_packed else grid

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.ciphertexts.ndim

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        kind = "packed" if self.is_packed else "unpacked"
        return f"EncryptedArray({kind}, shape {self.shape}, key {self.public.fingerprint})"

    def __add__(self, other: "EncryptedArray | ArrayLike") -> "EncryptedArray":
        if isinstance(other, EncryptedArray):
            return self._plus_encrypted(other)
        return self.plus(other)

    def __radd__(self, other: ArrayLike) -> "EncryptedArray":
        return self.plus(other)

    def __neg__(self) -> "EncryptedArray":
        return self._replace_numbers(inverses(self._flat(), self.public.n_squared), self.bound)

    def __sub__(self, other: "EncryptedArray | ArrayLike") -> "EncryptedArray":
        if isinstance(other, EncryptedArray):
            return self._plus_encrypted(-other)
        return self.plus_integers(-_allow_signs(encode(other, self.fraction_bits)))

    def __rsub__(self, other: ArrayLike) -> "EncryptedArray":
        return (-self).plus(other)

    def __mul__(self, scalars: ArrayLike) -> "EncryptedArray":
        return self.times(scalars)

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> "EncryptedArray":  # noqa: ANN401 - whatever numpy takes
        grid = self.ciphertexts[self._free(key)]
        if not isinstance(grid, np.ndarray):
            grid = as_grid([grid], ())
        return replace(self, ciphertexts=grid)

    @property
    def T(self) -> "EncryptedArray":  # noqa: N802 - numpy's name
        """The axes in reverse order; only unpacked."""
        if self.is_packed:
            raise ParameterError("a packed array cannot be transposed: its last axis is in slots.")
        return self._replace_grid(self.ciphertexts.T)

    def reshape(self, *shape: int) -> "EncryptedArray":
        """The same numbers in another shape; packed, the last axis must stay as it is."""
        if not self.is_packed:
            return self._replace_grid(self.ciphertexts.reshape(shape))
        if shape[-1] != self.length:
            raise ParameterError(
                f"a packed array's last axis must stay {self.length} long, got {shape[-1]}."
            )
        return self._replace_grid(self.ciphertexts.reshape(*shape[:-1], self.ciphertexts.shape[-1]))

    def plus(self, values: ArrayLike, *, bound: int | None = None) -> "EncryptedArray":
        """Add plain numbers, rounded to this array's scale."""
        return self.plus_integers(encode(values, self.fraction_bits), bound=bound)

    def plus_integers(self, integers: ArrayLike, *, bound: int | None = None) -> "EncryptedArray":
        """Add plain integers at this array's scale, as masks are.

        ``bound`` declares their largest size, where it is public; else it is worked out.
        """
        added = as_integers(integers)
        grown = self._fitting(self.bound + _check_declared(largest(added), bound))
        plain = pack(np.broadcast_to(added, self._shape_with(added.shape)), self.plan)
        pairs, shape = pair_up(self.ciphertexts, plain)
        n, n_squared = self.public.n, self.public.n_squared
        sums = spread(partial(plus_plain, n, n_squared), pairs, fewest=_FEWEST_PRODUCTS)
        return self._replace_numbers(sums, grown, shape)

    def times(
        self, scalars: ArrayLike, *, fraction_bits: int = 0, bound: int | None = None
    ) -> "EncryptedArray":
        """Multiply by plain numbers, rounded to ``fraction_bits`` places, which the scale gains.

        A packed array takes one scalar for all numbers along its last axis: give scalars whose
        last axis is 1 long. ``bound`` declares the largest integer of them, where it is public.
        """
        factors = _coefficients(scalars, fraction_bits)
        grown = self._fitting(self.bound * _check_declared(largest(factors), bound))
        if factors.ndim == 0 or factors.size == 1:
            shape = np.broadcast_shapes(self.ciphertexts.shape, factors.shape)
            one = powers(self._flat(), int(factors.ravel()[0]), self.public.n_squared)
            return self._replace_numbers(one, grown, shape, fraction_bits)
        self._check_scalars(factors.shape)
        pairs, shape = pair_up(self.ciphertexts, factors.astype(object))
        return self._replace_numbers(self._powers_of_own(pairs), grown, shape, fraction_bits)

    def combine(
        self,
        coefficients: ArrayLike,
        *,
        axis: int = 0,
        fraction_bits: int = 0,
        weight: int | None = None,
    ) -> "EncryptedArray":
        """Plain matrix (or vector) times encrypted matrix (or vector): sums of scaled rows.

        ``weight`` declares the largest sum of a row's sizes, as integers, where it is public.
        """
        matrix = _coefficients(coefficients, fraction_bits)
        grid = self._columns(axis)
        rows = np.atleast_2d(matrix if axis == 0 else matrix.T)
        if matrix.ndim > 2 or rows.shape[1] != grid.shape[0]:  # noqa: PLR2004 - a matrix
            raise ParameterError(
                f"shapes {matrix.shape} and {self.shape} do not fit a matrix product."
            )
        heaviest = max((sum(abs(int(c)) for c in row) for row in rows.tolist()), default=0)
        grown = self._fitting(self.bound * _check_declared(heaviest, weight))
        found = self._combinations(grid, rows.tolist())
        shaped = found if matrix.ndim == 2 else found[0]  # noqa: PLR2004 - a matrix
        back = shaped.T if axis else shaped
        return self._replace_grid(back, bound=grown, more=fraction_bits, blinded=False)

    def sum(self, axis: int = 0) -> "EncryptedArray":
        """Add along an axis that is not packed."""
        self.check_free(axis)
        count = self.shape[axis]
        grown = self._fitting(self.bound * count)
        parts = np.moveaxis(self.ciphertexts, axis, 0)
        columns = parts.reshape(count, -1).T.tolist()
        work = partial(products, self.public.n_squared)
        sums = spread(work, columns, fewest=max(1, _FEWEST_PRODUCTS // max(count, 1)))
        return self._replace_numbers(sums, grown, parts.shape[1:])

    def blind(self, *, full: bool = False) -> "EncryptedArray":
        """Multiply every ciphertext by a fresh blinding factor: same numbers, other ciphertexts.

        ``full`` takes n-th powers of uniform numbers instead of short powers of one base: it hides
        perfectly among the ciphertexts of Jacobi symbol +1, the only ones that are accepted, even
        from an owner who can take discrete logarithms, at some 25 times the cost.
        """
        factors = self.public.blinding.full_factors if full else self.public.blinding.factors
        flat = self._flat()
        pairs = list(zip(flat, factors(len(flat)), strict=True))
        blinded = pair_products(self.public.n_squared, pairs)
        return replace(self._replace_numbers(blinded, self.bound), blinded=True)

    def widen(self, bound: int) -> "EncryptedArray":
        """The same array under a larger declared bound."""
        if bound < self.bound:
            raise ParameterError("a bound can be widened, never narrowed.")
        return replace(self, bound=self._fitting(bound))

    def _plus_encrypted(self, other: "EncryptedArray") -> "EncryptedArray":
        self.check_same_kind(other)
        if self.shape[-1:] != other.shape[-1:] and self.is_packed:
            raise ParameterError("packed arrays must be equally long along their last axis.")
        grown = self._fitting(self.bound + other.bound)
        pairs, shape = pair_up(self.ciphertexts, other.ciphertexts)
        work = partial(pair_products, self.public.n_squared)
        return self._replace_numbers(spread(work, pairs, fewest=_FEWEST_PRODUCTS), grown, shape)

    def check_same_kind(self, other: "EncryptedArray") -> None:
        """Refuse another key, layout or scale."""
        if self.public != other.public:
            raise InputError("arrays under two keys cannot be combined.")
        if (self.plan.slot_bits, self.plan.slots) != (other.plan.slot_bits, other.plan.slots):
            raise ParameterError("arrays with different slots cannot be combined.")
        if self.fraction_bits != other.fraction_bits:
            raise ParameterError(
                f"arrays of {self.fraction_bits} and {other.fraction_bits} binary places cannot be "
                "added."
            )

    def _powers_of_own(self, pairs: list[Pair]) -> list[int]:
        negative = [at for at, (_, exponent) in enumerate(pairs) if exponent < 0]
        turned = inverses([pairs[at][0] for at in negative], self.public.n_squared)
        for at, inverse in zip(negative, turned, strict=True):
            pairs[at] = (inverse, -pairs[at][1])
        return spread(partial(pair_powers, self.public.n_squared), pairs, fewest=2)

    def _combinations(self, grid: Grid, rows: list[list[int]]) -> Grid:
        columns = grid.reshape(grid.shape[0], -1)
        found = [
            combinations(columns[:, at].tolist(), rows, self.public.n)
            for at in range(columns.shape[1])
        ]
        by_row = [number for row in zip(*found, strict=True) for number in row]
        return as_grid(by_row, (len(rows), *grid.shape[1:]))

    def _columns(self, axis: int) -> Grid:
        if self.ndim < 1 + self.is_packed:
            raise ParameterError("a matrix product needs an axis that is not packed.")
        return self.ciphertexts if axis == 0 else self.ciphertexts.T

    def _shape_with(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """What numpy makes of both shapes, unless that stretches the packed axis."""
        try:
            common = np.broadcast_shapes(shape, self.shape)
        except ValueError:
            raise ParameterError(f"shapes {self.shape} and {shape} cannot be added.") from None
        if self.is_packed and common[-1] != self.length:
            raise ParameterError(
                f"a packed array's last axis must stay {self.length} long, got {common[-1]}; "
                "encrypt unpacked to stretch it."
            )
        return common

    def _check_scalars(self, shape: tuple[int, ...]) -> None:
        if self.is_packed and shape[-1] != 1:
            raise ParameterError(
                "a packed array takes one scalar along its last axis: the scalars' last axis must "
                f"be 1 long, got {shape[-1]}; encrypt unpacked to multiply number by number."
            )

    def check_free(self, axis: int) -> None:
        """Refuse the packed axis, and one that is not there."""
        if not -self.ndim <= axis < self.ndim:
            raise ParameterError(f"axis must be below {self.ndim}, got {axis}.")
        if self.is_packed and axis % self.ndim == self.ndim - 1:
            raise ParameterError("the last axis is packed: it cannot be added up under encryption.")

    def _free(self, key: Any) -> Any:  # noqa: ANN401 - whatever numpy takes
        if not self.is_packed:
            return key
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) == self.ndim and isinstance(keys[-1], slice) and keys[-1] == slice(None):
            keys = keys[:-1]
        simple = all(isinstance(each, (int, np.integer, slice)) for each in keys)
        if len(keys) >= self.ndim or (len(keys) > 1 and not simple):
            raise ParameterError("the last axis is packed: only the axes before it can be sliced.")
        return keys if simple else key

    def _fitting(self, bound: int) -> int:
        if bound > self.plan.capacity:
            raise ParameterError(
                f"this would need slots of {bits_for(bound)} bits, and they have "
                f"{self.plan.slot_bits}; plan for it."
            )
        return bound

    def _flat(self) -> list[int]:
        return list(self.ciphertexts.ravel())

    def _replace_numbers(
        self,
        ciphertexts: Sequence[int],
        bound: int,
        shape: tuple[int, ...] | None = None,
        more_fraction_bits: int = 0,
    ) -> "EncryptedArray":
        grid = as_grid(ciphertexts, self.ciphertexts.shape if shape is None else shape)
        return self._replace_grid(grid, bound=bound, more=more_fraction_bits, blinded=False)

    def _replace_grid(
        self, grid: Grid, *, bound: int | None = None, more: int = 0, blinded: bool | None = None
    ) -> "EncryptedArray":
        return replace(
            self,
            ciphertexts=grid,
            bound=self.bound if bound is None else bound,
            fraction_bits=self.fraction_bits + more,
            blinded=self.blinded if blinded is None else blinded,
        )


def concatenate(arrays: Sequence[EncryptedArray], axis: int = 0) -> EncryptedArray:
    """Join arrays of one key, layout and scale along an axis that is not packed."""
    first, *others = arrays
    for other in others:
        first.check_same_kind(other)
    first.check_free(axis)
    if first.is_packed and any(other.length != first.length for other in others):
        raise ParameterError("packed arrays must be equally long along their last axis.")
    grid = np.concatenate([each.ciphertexts for each in arrays], axis=axis)
    bound = max(each.bound for each in arrays)
    return replace(
        first, ciphertexts=grid, bound=bound, blinded=all(each.blinded for each in arrays)
    )


def _coefficients(values: ArrayLike, fraction_bits: int) -> Integers:
    check_fraction_bits(fraction_bits)
    given = np.asarray(values)
    if fraction_bits == 0 and given.dtype.kind == "f" and not (given == np.rint(given)).all():
        raise ParameterError(
            "scalars must be whole numbers; for others give fraction_bits, which the scale gains."
        )
    return encode(given, fraction_bits)


def _check_declared(largest_size: int, bound: int | None) -> int:
    if bound is None:
        return largest_size
    if largest_size > bound:
        raise ParameterError("a value exceeds the bound declared for it.")
    return bound


def _allow_signs(integers: Integers) -> Integers:
    return integers.astype(object) if integers.dtype.kind == "u" else integers

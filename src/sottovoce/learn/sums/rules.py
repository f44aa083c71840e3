"""How many parties a secure sum needs, and what it says about itself."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from sottovoce.errors import ParameterError
from sottovoce.learn.party import TooFewPartiesError

FEWEST_PARTIES = 3
# With two summands the sum less one's own is the other's: whoever wants that must say it.
AllowTwo: TypeAlias = Literal["each learns the other's summand"]
ALLOW_TWO: AllowTwo = "each learns the other's summand"


def checked_parties(names: Sequence[str], *, allow_two: AllowTwo | None) -> tuple[str, ...]:
    """The parties of a sum in the order of their names, or why they cannot sum."""
    if allow_two not in {None, ALLOW_TWO}:
        raise ParameterError(f'allow_two must be None or "{ALLOW_TWO}".')
    if len(set(names)) != len(names):
        raise ParameterError("every party of a secure sum must have a name of its own.")
    if len(names) < fewest(allow_two):
        raise TooFewPartiesError(
            f"a secure sum needs at least {fewest(allow_two)} parties, got {len(names)}; with two, "
            f'each learns the other\'s summand: pass allow_two="{ALLOW_TWO}" to accept that.'
        )
    return tuple(sorted(names))


def fewest(allow_two: AllowTwo | None) -> int:
    """The smallest number of summands in a sum that is opened."""
    return FEWEST_PARTIES if allow_two is None else FEWEST_PARTIES - 1

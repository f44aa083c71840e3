"""What forecasts of a release and of a count have in common: checks, and how many documents more.

Both say by rule of thumb what noise will leave to be seen, and more documents always show more.
"""

from collections.abc import Callable, Mapping

from sottovoce.errors import ParameterError

_MOST_DOCUMENTS = 10**12


def check_accuracies(given: Mapping[str, float | None], meaning: str) -> None:
    """Refuse shares outside of 0 to 1, and one without the other; ``meaning``: both in words."""
    if len({value is None for value in given.values()}) > 1:
        raise ParameterError(f"{meaning} go together; give both or neither.")
    for name, value in given.items():
        if value is not None and not 0 < value < 1:
            raise ParameterError(f"{name} must lie between 0 and 1, got {value}.")


def fewest_documents(are_enough: Callable[[int], bool]) -> int | None:
    """How many documents suffice, about; None: no number does."""
    low, high = 1, _MOST_DOCUMENTS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if are_enough(middle) else (middle + 1, high)
    return None if low >= _MOST_DOCUMENTS else _rounded(low)


def _rounded(number: int) -> int:
    """To two digits: more would not be honest."""
    digits = max(0, len(str(number)) - 2)
    return int(-(-number // 10**digits) * 10**digits)

"""Guarantees as plain records, for cards: exact ratios as text, floats beside them rounded up."""

from collections.abc import Mapping
from typing import Any

from sottovoce.errors import InputError
from sottovoce.release.exact import float_up
from sottovoce.release.guarantee import Guarantee, LimitedPrecision, LocalPrivacy, NoGuarantee


def to_record(guarantee: Guarantee) -> dict[str, int | float | str]:
    """What JSON can hold, and `from_record` reads back without loss."""
    if isinstance(guarantee, NoGuarantee):
        return {"kind": "none", "reason": guarantee.reason}
    record: dict[str, int | float | str] = {
        "epsilon": str(guarantee.epsilon),
        "epsilon_rounded_up": float_up(guarantee.epsilon),
        "nats_per_word": str(guarantee.rate),
        "unit": guarantee.unit,
    }
    if isinstance(guarantee, LimitedPrecision):
        return {"kind": "limited-precision", "n": guarantee.n, **record}
    return {"kind": "local", "length_cap": guarantee.length_cap, **record}


def from_record(record: Mapping[str, Any]) -> Guarantee:
    """The guarantee that `to_record` wrote; what contradicts itself is refused."""
    try:
        guarantee = _read(record)
    except KeyError as missing:
        raise InputError(f"a guarantee's record lacks its field {missing}.") from None
    if to_record(guarantee) != dict(record):
        raise InputError("a guarantee's record contradicts itself; it was changed by hand.")
    return guarantee


def _read(record: Mapping[str, Any]) -> Guarantee:
    kind = record["kind"]
    if kind == "limited-precision":
        return LimitedPrecision(record["n"], record["epsilon"], record["unit"])
    if kind == "local":
        return LocalPrivacy(record["epsilon"], record["length_cap"], record["unit"])
    if kind == "none":
        return NoGuarantee(record["reason"])
    raise InputError("a guarantee's kind must be limited-precision, local or none.")

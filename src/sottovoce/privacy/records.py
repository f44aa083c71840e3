"""Guarantees as records: ratios as text, with floats beside them that are rounded up."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sottovoce.errors import InputError
from sottovoce.privacy.exact import float_up
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy, NoGuarantee
from sottovoce.privacy.whole_document import WholeDocument

Guarantee: TypeAlias = LimitedPrecision | LocalPrivacy | WholeDocument | NoGuarantee
Record: TypeAlias = dict[str, int | float | str]


def to_record(guarantee: Guarantee) -> Record:
    """What JSON can hold, and `from_record` reads back without loss."""
    if isinstance(guarantee, NoGuarantee):
        return {"kind": "none", "reason": guarantee.reason}
    if isinstance(guarantee, WholeDocument):
        return _of_whole_document(guarantee)
    record: Record = {
        "epsilon": str(guarantee.epsilon),
        "epsilon_rounded_up": float_up(guarantee.epsilon),
        "nats_per_word": str(guarantee.rate),
        "unit": guarantee.unit,
    }
    if isinstance(guarantee, LimitedPrecision):
        return {"kind": "limited-precision", "n": guarantee.n, **record}
    return {"kind": "local", "length_cap": guarantee.length_cap, **record}


def _of_whole_document(guarantee: WholeDocument) -> Record:
    record: Record = {
        "kind": "whole-document",
        "epsilon": str(guarantee.epsilon),
        "epsilon_document": str(guarantee.document_epsilon),
        "epsilon_document_rounded_up": float_up(guarantee.document_epsilon),
        "epsilon_replaced": str(guarantee.replacing),
        "parties": guarantee.parties,
        "drop": guarantee.drop,
        "collude": guarantee.collude,
    }
    if guarantee.documents_per_user is None:
        return record
    user = str(guarantee.user_epsilon)
    return {**record, "documents_per_user": guarantee.documents_per_user, "epsilon_user": user}


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
    if kind == "whole-document":
        return WholeDocument(
            record["epsilon"],
            parties=record["parties"],
            drop=record["drop"],
            collude=record["collude"],
            documents_per_user=record.get("documents_per_user"),
        )
    if kind == "none":
        return NoGuarantee(record["reason"])
    raise InputError("a guarantee's kind must be limited-precision, local, whole-document or none.")

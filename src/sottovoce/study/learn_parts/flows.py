"""Who told whom how much: out of the transcripts of a federation that runs."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sottovoce.federation.parties.launch import Launched

_UNIT = 1000.0


class Flow(NamedTuple):
    """All messages of one kind from one party to another."""

    sender: str
    receiver: str
    kind: str
    means: str
    messages: int
    bytes: int


def flows(parties: Launched) -> list[Flow]:
    """Everything that the parties of a federation have sent so far, as they tell it."""
    found: dict[tuple[str, str, str, str], tuple[int, int]] = {}
    for name in parties.processes:
        own = name.replace("key-holder", "key holder")
        for line in parties.asked(name, do="transcript"):
            if line["sender"] == own:
                key = (line["sender"], line["receiver"], line["kind"], line["means"])
                messages, size = found.get(key, (0, 0))
                found[key] = messages + 1, size + line["bytes"]
    return [Flow(*key, *counts) for key, counts in found.items()]


def total(listed: Iterable[Flow], sender: str | None = None, receiver: str | None = None) -> int:
    """Bytes from one party, to one party, or both."""
    return sum(
        flow.bytes
        for flow in listed
        if sender in (None, flow.sender) and receiver in (None, flow.receiver)
    )


def of_kind(listed: Sequence[Flow], kind: str, **ends: str) -> int:
    """Bytes of one kind between two parties."""
    return total([flow for flow in listed if flow.kind == kind], **ends)


def size_in_words(count: float) -> str:
    """850 B, 12.3 kB, 4.5 MB."""
    if count < _UNIT:
        return f"{count:.0f} B"
    for unit in ("kB", "MB"):
        count /= _UNIT
        if count < _UNIT:
            return f"{count:,.1f} {unit}"
    return f"{count / _UNIT:,.1f} GB"

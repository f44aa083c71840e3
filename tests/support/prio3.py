"""Reports of Prio3: how both servers take one, and how a client may make a bad one."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf.prio3 import Prio3, Prio3Histogram, Prio3Report

VERIFY_KEY = bytes(range(32))
NONCE = bytes(range(16))
CONTEXT = b"some application"


def drawn(prio3: Prio3[Any, Any], chance: random.Random) -> dict[str, bytes]:
    """A nonce and randomness that a test can draw again."""
    return {"nonce": chance.randbytes(16), "rand": chance.randbytes(prio3.randomness_size)}


def outputs(prio3: Prio3[Any, Any], report: Prio3Report, key: bytes = VERIFY_KEY) -> list[bytes]:
    """Every aggregator's output share, if all of them accept the report."""
    begun = [
        prio3.verify_init(key, place, report.nonce, report.public_share, share)
        for place, share in enumerate(report.input_shares)
    ]
    message = prio3.verifier_message([share for _, share in begun])
    return [prio3.verify_next(state, message) for state, _ in begun]


def counted(prio3: Prio3[Any, Any], report: Prio3Report) -> list[int] | None:
    """By how much a report changes every count; None if an aggregator refuses it."""
    try:
        return list(prio3.unshard(outputs(prio3, report)))
    except ProtocolError:
        return None


def forged(prio3: Prio3[Any, Any], numbers: Sequence[int], chance: random.Random) -> Prio3Report:
    """A report of any vector, its proof made as for an honest one."""
    return prio3._split(prio3._field.elements(numbers), **drawn(prio3, chance))


def _flipped(message: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(8 * len(message))
    changed = bytearray(message)
    changed[place // 8] ^= 1 << (place % 8)
    return bytes(changed)


def _shifted(prio3: Prio3[Any, Any], leader: bytes, chance: random.Random) -> bytes:
    """One or two elements of the leader's share are others by a little."""
    field, blind = prio3._field, leader[-32:]
    elements = field.decode(leader[:-32])
    change = [0] * len(elements)
    for place in chance.sample(range(len(change)), chance.choice([1, 2])):
        change[place] = chance.choice([1, -1, 2])
    return field.encode(field.plus(elements, field.elements(change))) + blind


def _vectors(length: int, chance: random.Random) -> list[list[int]]:
    """Vectors that are no bucket, most of which have one property of a bucket."""
    one = [0] * length
    one[chance.randrange(length)] = 1
    two, moved = list(one), list(one)
    two[one.index(0)] = 1
    moved[one.index(1)] = 2
    moved[one.index(0)] = -1
    huge = [chance.randrange(2**128) for _ in range(length - 1)]
    return [[0] * length, two, moved, [3 * bit for bit in one], [*huge, 1 - sum(huge)]]


def mutated(prio3: Prio3Histogram, length: int, chance: random.Random) -> tuple[str, Prio3Report]:
    """A report with something wrong, or in a few cases nothing, and what it is."""
    honest = prio3.shard(chance.randrange(length), **drawn(prio3, chance))
    other = prio3.shard(chance.randrange(length), **drawn(prio3, chance))
    leader, helper = honest.input_shares
    public = honest.public_share
    ways: dict[str, Callable[[], Prio3Report]] = {
        "nothing": lambda: honest,
        "nonce": lambda: replace(honest, nonce=_flipped(honest.nonce, chance)),
        "public": lambda: replace(honest, public_share=_flipped(public, chance)),
        "parts": lambda: replace(honest, public_share=public[32:] + public[:32]),
        "leader": lambda: replace(honest, input_shares=(_flipped(leader, chance), helper)),
        "helper": lambda: replace(honest, input_shares=(leader, _flipped(helper, chance))),
        "shifted": lambda: replace(honest, input_shares=(_shifted(prio3, leader, chance), helper)),
        "exchanged": lambda: replace(honest, input_shares=(leader, other.input_shares[1])),
        "other public": lambda: replace(honest, public_share=other.public_share),
        "other nonce": lambda: replace(honest, nonce=other.nonce),
        "cut": lambda: replace(honest, input_shares=(leader[:-1], helper)),
        "longer": lambda: replace(honest, input_shares=(leader, helper + b"\0")),
        "forged": lambda: forged(prio3, chance.choice(_vectors(length, chance)), chance),
    }
    way = chance.choice(sorted(ways))
    return way, ways[way]()

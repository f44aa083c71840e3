"""Prio3 says byte for byte what the test vectors of the standard say.

In the ordinary run the vectors' inputs stand here, with a digest of every message that they lead
to; the files themselves, the negative ones too, are read in the long run.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.prio3 import CONTEXT, NONCE, VERIFY_KEY

from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf.prio3 import Prio3, Prio3Count, Prio3Histogram, Prio3SumVec

if TYPE_CHECKING:
    from sottovoce.privacy.vdaf.prio3 import VerifyState

COUNT = Prio3Count(context=CONTEXT)
SMALL = Prio3Histogram(4, 2, context=CONTEXT)
CASES: dict[str, tuple[Prio3[Any, Any], Sequence[Any], Any, str]] = {
    "count": (COUNT, [1], 1, "f4c8f0d6b11aa81f204116dae865cafd"),
    "count of three": (
        Prio3Count(context=CONTEXT, shares=3),
        [1],
        1,
        "c00401b1fbec7612555ae5e6ea1d9696",
    ),
    "counts": (COUNT, [0, 1, 1, 0, 1], 3, "a973aa6e9fdef1e1d252f59b57365c69"),
    "histogram": (SMALL, [2], [0, 0, 1, 0], "ef77df6a51c801ba6b0e0226844d8ce8"),
    "histogram of three": (
        Prio3Histogram(11, 3, context=CONTEXT, shares=3),
        [2],
        [0, 0, 1] + [0] * 8,
        "7694ed809e722c0c7cbee02b241090aa",
    ),
    "long histogram": (
        Prio3Histogram(100, 10, context=CONTEXT),
        [2, 99, 99, 17, 42, 0, 0, 1, 2, 0],
        [3, 1, 2] + [0] * 14 + [1] + [0] * 24 + [1] + [0] * 56 + [2],
        "f68e8ab2a5b67fdf800d21951c567b7c",
    ),
    "bytes": (
        Prio3SumVec(10, 255, 9, context=CONTEXT),
        [list(range(10)), [1] * 10, [255] * 10],
        list(range(256, 266)),
        "b95ffd3184d7d1de5d5a256dd993eca0",
    ),
    "numbers to 32,000 of three": (
        Prio3SumVec(3, 32_000, 7, context=CONTEXT, shares=3),
        [[10000, 32000, 9], [19342, 19615, 3061], [15986, 24671, 23910]],
        [45328, 76286, 26980],
        "0124326fbd915f7c3d04e34ef429e68a",
    ),
}


def conversation(prio3: Prio3[Any, Any], measurements: Sequence[Any]) -> tuple[str, Any]:
    """A digest of all messages, in the order of a vector's file, and the result."""
    said = hashlib.sha256()
    totals: list[list[bytes]] = [[] for _ in range(prio3.shares)]
    rand = bytes(range(prio3.randomness_size))
    for measurement in measurements:
        report = prio3.shard(measurement, nonce=NONCE, rand=rand)
        begun = [
            prio3.verify_init(VERIFY_KEY, place, NONCE, report.public_share, share)
            for place, share in enumerate(report.input_shares)
        ]
        message = prio3.verifier_message([share for _, share in begun])
        outputs = [prio3.verify_next(state, message) for state, _ in begun]
        shares = (share for _, share in begun)
        for part in (report.public_share, *report.input_shares, *shares, message, *outputs):
            said.update(part)
        for total, output in zip(totals, outputs, strict=True):
            total.append(output)
    sums = [prio3.aggregate(total) for total in totals]
    said.update(b"".join(sums))
    return said.hexdigest()[:32], prio3.unshard(sums)


@pytest.mark.parametrize("case", CASES)
def test_all_messages_are_those_of_the_standard(case: str) -> None:
    prio3, measurements, result, digest = CASES[case]
    assert conversation(prio3, measurements) == (digest, result)


@pytest.mark.kernel
@pytest.mark.parametrize("case", ["count", "histogram"])
def test_the_kernels_say_the_same_uncompiled(case: str) -> None:
    prio3, measurements, result, digest = CASES[case]
    assert conversation(prio3, measurements) == (digest, result)


def test_a_count_word_for_word() -> None:
    report = COUNT.shard(1, nonce=NONCE, rand=bytes(range(64)))
    assert report.public_share == b""
    leader = "355e16daa732744c34dc71fa4c85d209f9af2ecf751609386ed9e2714ecc9e6b"
    assert [share.hex() for share in report.input_shares] == [
        leader + "b2277498ac41e75c01d81b4cb8485926",
        bytes(range(32)).hex(),
    ]
    state, verifier = COUNT.verify_init(VERIFY_KEY, 0, NONCE, b"", report.input_shares[0])
    assert verifier.hex() == "cd7905720f16e5d9ef7657a336307ae8f3fe96d36cc09019257268349e7a7d72"
    assert COUNT.verify_next(state, b"").hex() == "355e16daa732744c"


class Vector:
    """A file of the standard, played step by step."""

    def __init__(self, file: Path) -> None:
        self._read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        self._prio3 = self._made(file.name.partition("_")[0])
        self._states: dict[tuple[int, int], VerifyState] = {}

    def _made(self, name: str) -> Prio3[Any, Any]:
        read = self._read
        common = {"context": bytes.fromhex(read["ctx"]), "shares": read["shares"]}
        if name == "Prio3Count":
            return Prio3Count(**common)
        if name == "Prio3Histogram":
            return Prio3Histogram(read["length"], read["chunk_length"], **common)
        sizes = read["length"], read["max_measurement"], read["chunk_length"]
        return Prio3SumVec(*sizes, **common)

    def play(self) -> list[str]:
        """Every step as its file says, or the ones that were not."""
        wrong = []
        for step in self._read["operations"]:
            try:
                right = self._right(step)
            except ProtocolError:
                right = None
            if right is not (True if step["success"] else None):
                wrong.append(f"{step}: {right}")
        return wrong

    def _right(self, step: dict[str, Any]) -> bool:
        name, place = step["operation"], step.get("aggregator_id", 0)
        if name == "aggregate":
            shares = [bytes.fromhex(each["out_shares"][place]) for each in self._read["reports"]]
            return bool(self._prio3.aggregate(shares).hex() == self._read["agg_shares"][place])
        if name == "unshard":
            shares = [bytes.fromhex(share) for share in self._read["agg_shares"]]
            return bool(self._prio3.unshard(shares) == self._read["agg_result"])
        steps: dict[str, Callable[[dict[str, Any], int, int], bool]] = {
            "shard": self._shard,
            "verify_init": self._begin,
            "verifier_shares_to_message": self._message,
            "verify_next": self._end,
        }
        number = step["report_index"]
        return steps[name](self._read["reports"][number], number, place)

    def _shard(self, report: dict[str, Any], _number: int, _place: int) -> bool:
        chosen = {name: bytes.fromhex(report[name]) for name in ("nonce", "rand")}
        found = self._prio3.shard(report["measurement"], **chosen)
        shares = [share.hex() for share in found.input_shares]
        expected = report["public_share"], report["input_shares"]
        return (found.public_share.hex(), shares) == expected

    def _begin(self, report: dict[str, Any], number: int, place: int) -> bool:
        key, nonce = bytes.fromhex(self._read["verify_key"]), bytes.fromhex(report["nonce"])
        public = bytes.fromhex(report["public_share"])
        share = bytes.fromhex(report["input_shares"][place])
        state, found = self._prio3.verify_init(key, place, nonce, public, share)
        self._states[number, place] = state
        return bool(found.hex() == report["verifier_shares"][0][place])

    def _message(self, report: dict[str, Any], _number: int, _place: int) -> bool:
        shares = [bytes.fromhex(share) for share in report["verifier_shares"][0]]
        return bool(self._prio3.verifier_message(shares).hex() == report["verifier_messages"][0])

    def _end(self, report: dict[str, Any], number: int, place: int) -> bool:
        message = bytes.fromhex(report["verifier_messages"][0])
        found = self._prio3.verify_next(self._states[number, place], message)
        return bool(found.hex() == report["out_shares"][place])


@pytest.mark.long
def test_every_file_of_the_standard_is_right_or_refused_at_the_step_that_it_says(
    shared_data: Path,
) -> None:
    files = sorted((shared_data / "vdaf").glob("Prio3*.json"))
    assert len(files) == 16
    assert {file.name: Vector(file).play() for file in files} == {file.name: [] for file in files}

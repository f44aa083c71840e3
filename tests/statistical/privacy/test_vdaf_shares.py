"""What one server sees of a report is uniform, whatever the bucket is."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from support.evenness import evenness
from support.prio3 import CONTEXT, VERIFY_KEY, drawn

from sottovoce.privacy.vdaf._proof import Proof, add_shares
from sottovoce.privacy.vdaf._xof import XofUsage
from sottovoce.privacy.vdaf.field import Words
from sottovoce.privacy.vdaf.prio3 import Prio3, Prio3Histogram

REPORTS = 500
FLOOR, CEILING = 1e-4, 1e-9
HISTOGRAM = Prio3Histogram(4, 2, context=CONTEXT)
ARITY = 4
ROUND_NUMBER = 2**127

Views = dict[str, list[Words]]


def views(bucket: int, seed: int) -> Views:
    """The leader's shares, the helper's, and the wires that both open, of reports of one bucket."""
    chance = random.Random(seed)
    found: Views = {"leader": [], "leader's proof": [], "helper": [], "opened wires": []}
    for _ in range(REPORTS):
        report = HISTOGRAM.shard(bucket, **drawn(HISTOGRAM, chance))
        vector, proof, _ = HISTOGRAM._input_share(0, report.input_shares[0])
        found["leader"].append(vector)
        found["leader's proof"].append(proof)
        found["helper"].append(HISTOGRAM._input_share(1, report.input_shares[1])[0])
        sent = [
            HISTOGRAM.verify_init(VERIFY_KEY, place, report.nonce, report.public_share, share)[1]
            for place, share in enumerate(report.input_shares)
        ]
        opened = [HISTOGRAM._messages.verifier_share(share)[0] for share in sent]
        found["opened wires"].append(add_shares(HISTOGRAM._field, opened)[1 : ARITY + 1])
    return found


def unevenness(seen: list[Words]) -> float:
    """The p-value of a chi-square test that all elements seen are uniform."""
    p = HISTOGRAM._field.modulus
    values = [number % p for vector in seen for number in HISTOGRAM._field.integers(vector)]
    return evenness(values, [p] * len(values))


@pytest.mark.parametrize("bucket", [0, 3])
def test_every_share_alone_is_uniform_whatever_the_bucket(bucket: int) -> None:
    assert min(unevenness(seen) for seen in views(bucket, seed=31 + bucket).values()) > FLOOR


def _short(drawing: Callable[..., Words]) -> Callable[..., Words]:
    """Shares of the helper that are below 2^127 only."""

    def shortened(self: Prio3[int, list[int]], aggregator: int, seed: bytes) -> Words:
        field = self._field
        numbers = field.integers(drawing(self, aggregator, seed))
        return field.elements(number % ROUND_NUMBER for number in numbers)

    return shortened


@pytest.mark.parametrize(
    ("method", "seen"), [("_helper_vector", "leader"), ("_helper_proof", "leader's proof")]
)
def test_masks_that_are_a_bit_short_are_seen(
    method: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Prio3, method, _short(getattr(Prio3, method)))
    assert unevenness(views(0, seed=37)[seen]) < CEILING


def told(reports: int) -> int:
    """Of how many reports what both open is what the wires of the true bucket, unmasked, would be.

    An aggregator can compute that for every bucket: it knows the point and the joint randomness.
    """
    proof, field, chance, found = HISTOGRAM._proof, HISTOGRAM._field, random.Random(41), 0
    for bucket in (number % 4 for number in range(reports)):
        report = HISTOGRAM.shard(bucket, **drawn(HISTOGRAM, chance))
        begun = [
            HISTOGRAM.verify_init(VERIFY_KEY, place, report.nonce, report.public_share, share)
            for place, share in enumerate(report.input_shares)
        ]
        opened = add_shares(
            field, [HISTOGRAM._messages.verifier_share(each)[0] for _, each in begun]
        )
        length = proof.query_length
        asked = HISTOGRAM._elements(
            XofUsage.QUERY_RANDOMNESS, VERIFY_KEY, b"\1" + report.nonce, length
        )
        joint = HISTOGRAM._joint(begun[0][0].joint_seed)
        vector = HISTOGRAM._circuit.encode(bucket)
        unmasked = proof.query(vector, field.zeros(proof.length), asked, joint, 1)
        found += bool((unmasked[1 : ARITY + 1] == opened[1 : ARITY + 1]).all())
    return found


def test_only_the_seeds_of_the_wires_keep_what_is_opened_from_telling_the_bucket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert told(20) == 0
    proving = Proof.prove

    def without_seeds(self: Proof, vector: Words, seeds: Words, joint: Words) -> Words:
        return proving(self, vector, np.zeros_like(seeds), joint)

    monkeypatch.setattr(Proof, "prove", without_seeds)
    assert told(20) == 20

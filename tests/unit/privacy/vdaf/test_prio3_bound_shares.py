"""Why a server takes nonce and public share from the client alone, and answers about a report once.

Whoever could hand the second server another public share or nonce, or have it answer again, would
read the bucket off the answers, for the price of a refused report. No code in the package can see
to that: these tests show why its page asks it of callers.
"""

import random

import pytest
from support.prio3 import CONTEXT, VERIFY_KEY, drawn

from sottovoce.privacy.vdaf._proof import lagrange_weights
from sottovoce.privacy.vdaf._xof import XofUsage
from sottovoce.privacy.vdaf.prio3 import Prio3Histogram, Prio3Report

BUCKETS, CHUNK = 6, 2
HISTOGRAM = Prio3Histogram(BUCKETS, CHUNK, context=CONTEXT)
FIELD, PROOF = HISTOGRAM._field, HISTOGRAM._proof
P = FIELD.modulus


def residues(elements: object) -> list[int]:
    return [number % P for number in FIELD.integers(elements)]  # type: ignore[arg-type] # words


def weights_at_the_point(key: bytes, nonce: bytes) -> list[int]:
    """How the values of a wire add up to what is opened of it."""
    length = PROOF.query_length
    asked = HISTOGRAM._elements(XofUsage.QUERY_RANDOMNESS, key, b"\1" + nonce, length)
    size = PROOF.points
    return residues(lagrange_weights(asked[-1:], FIELD.roots(size), FIELD.part(size), FIELD.p))


def opened(report: Prio3Report, parts: list[bytes], key: bytes = VERIFY_KEY) -> list[int]:
    """The verifier, as the first server sees it after it told the second of these parts."""
    vector, proof, _ = HISTOGRAM._input_share(0, report.input_shares[0])
    length = PROOF.query_length
    asked = HISTOGRAM._elements(XofUsage.QUERY_RANDOMNESS, key, b"\1" + report.nonce, length)
    joint = HISTOGRAM._joint(HISTOGRAM._joint_seed(parts))
    own = PROOF.query(vector, proof, asked, joint, 2)
    _, answer = HISTOGRAM.verify_init(key, 1, report.nonce, b"".join(parts), report.input_shares[1])
    return residues(FIELD.plus(own, HISTOGRAM._messages.verifier_share(answer)[0]))


def read_by_other_parts(report: Prio3Report, parts: list[bytes]) -> list[int]:
    """The buckets that explain what is opened when the second server was told of ``parts``.

    Its wires are then of another joint randomness r' than the proof's r, so that G(t) less the
    products of the wires at t is b_j(t) L_k(t) (r_k^j - r'_k^j), the bucket at place j of chunk k.
    """
    true = [report.public_share[:32], report.public_share[32:]]
    r, other = (residues(HISTOGRAM._joint(HISTOGRAM._joint_seed(each))) for each in (true, parts))
    _, *wires, last = opened(report, parts)
    rest = (last - sum(wires[2 * j] * wires[2 * j + 1] for j in range(CHUNK))) % P
    at_point = weights_at_the_point(VERIFY_KEY, report.nonce)
    return [
        bucket
        for bucket in range(BUCKETS)
        for k, j in [divmod(bucket, CHUNK)]
        if rest
        == wires[2 * j + 1] * at_point[k + 1] * (pow(r[k], j + 1, P) - pow(other[k], j + 1, P)) % P
    ]


def read_by_asking_twice(report: Prio3Report, key: bytes) -> list[int]:
    """The buckets that explain two answers about a report, under two keys: the seeds drop out."""
    parts = [report.public_share[:32], report.public_share[32:]]
    views = [
        (opened(report, parts, each)[2::2], weights_at_the_point(each, report.nonce))
        for each in (VERIFY_KEY, key)
    ]

    def seed(view: tuple[list[int], list[int]], j: int, bucket: int) -> int:
        wires, at_point = view
        entries = (int(k * CHUNK + j == bucket) - 1 for k in range(BUCKETS // CHUNK))
        known = sum(entry * at_point[k] for k, entry in enumerate(entries, 1))
        return (wires[j] - known) * pow(at_point[0], -1, P) % P

    return [
        bucket
        for bucket in range(BUCKETS)
        if all(len({seed(view, j, bucket) for view in views}) == 1 for j in range(CHUNK))
    ]


@pytest.mark.parametrize("bucket", range(BUCKETS))
def test_a_public_share_of_the_other_servers_choice_tells_the_bucket(bucket: int) -> None:
    report = HISTOGRAM.shard(bucket, **drawn(HISTOGRAM, random.Random(bucket)))
    chosen = [bytes(32), report.public_share[32:]]
    assert read_by_other_parts(report, chosen) == [bucket]


def test_a_second_answer_under_another_key_tells_the_bucket() -> None:
    for bucket in range(BUCKETS):
        report = HISTOGRAM.shard(bucket, **drawn(HISTOGRAM, random.Random(bucket)))
        assert read_by_asking_twice(report, bytes(32)) == [bucket]


def test_one_answer_about_the_clients_own_public_share_is_explained_by_every_bucket() -> None:
    report = HISTOGRAM.shard(3, **drawn(HISTOGRAM, random.Random(3)))
    parts = [report.public_share[:32], report.public_share[32:]]
    assert read_by_other_parts(report, parts) == list(range(BUCKETS))
    assert read_by_asking_twice(report, VERIFY_KEY) == list(range(BUCKETS))

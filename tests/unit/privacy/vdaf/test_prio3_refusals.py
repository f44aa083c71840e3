"""What aggregators refuse, at which step, and what callers must not ask for."""

import random
from dataclasses import replace

import pytest
from support.prio3 import CONTEXT, NONCE, VERIFY_KEY, forged, outputs

from sottovoce.errors import ParameterError, ProtocolError
from sottovoce.privacy.randomness import random_bytes
from sottovoce.privacy.vdaf import prio3 as prio3_module
from sottovoce.privacy.vdaf.prio3 import Prio3Count, Prio3Histogram, Prio3Report, Prio3SumVec

FIVE = Prio3Histogram(5, 2, context=CONTEXT)
COUNT = Prio3Count(context=CONTEXT)
PROOF, JOINT = "proof of this report does not hold", "joint randomness of this report is not that"


def honest(bucket: int = 2) -> Prio3Report:
    return FIVE.shard(bucket, nonce=NONCE, rand=bytes(range(FIVE.randomness_size)))


def with_byte(message: bytes, place: int) -> bytes:
    """A message with one bit of the byte at ``place`` another."""
    changed = bytearray(message)
    changed[place] ^= 1
    return bytes(changed)


# The negative vectors of the standard, made from an honest report.
@pytest.mark.parametrize(
    ("which", "place"),
    [
        pytest.param(0, -32, id="the leader's blind"),
        pytest.param(1, 32, id="the helper's blind"),
        pytest.param(0, 0, id="the leader's share of the vector"),
        pytest.param(0, 5 * 16, id="a wire seed"),
        pytest.param(0, 9 * 16, id="the gadget's polynomial"),
        pytest.param(1, 0, id="the helper's seed"),
    ],
)
def test_a_changed_share_is_refused_by_its_proof(which: int, place: int) -> None:
    report = honest()
    shares = list(report.input_shares)
    shares[which] = with_byte(shares[which], place)
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(FIVE, replace(report, input_shares=tuple(shares)))


@pytest.mark.parametrize("place", [0, 32])
def test_a_changed_part_of_the_joint_randomness_is_refused_by_the_proof(place: int) -> None:
    report = honest()
    changed = replace(report, public_share=with_byte(report.public_share, place))
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(FIVE, changed)


def test_a_seed_that_is_not_the_one_used_is_refused_in_the_last_step() -> None:
    report = honest()
    state, _ = FIVE.verify_init(
        VERIFY_KEY, 0, report.nonce, report.public_share, report.input_shares[0]
    )
    with pytest.raises(ProtocolError, match=JOINT):
        FIVE.verify_next(state, bytes(32))
    assert FIVE.verify_next(state, state.joint_seed) == state.output_share


@pytest.mark.parametrize("place", range(0, 48, 8))
def test_no_number_of_a_count_can_be_changed(place: int) -> None:
    report = COUNT.shard(1)
    leader = with_byte(report.input_shares[0], place)
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(COUNT, replace(report, input_shares=(leader, report.input_shares[1])))


def test_a_report_for_another_application_or_of_another_kind_is_refused() -> None:
    report = honest()
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(Prio3Histogram(5, 2, context=b"another"), report)
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(Prio3SumVec(5, 1, 2, context=CONTEXT), report)


def test_a_report_under_another_nonce_is_refused() -> None:
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(FIVE, replace(honest(), nonce=bytes(16)))


def test_servers_with_different_keys_refuse_every_report() -> None:
    report = honest()
    shares = [
        FIVE.verify_init(bytes([place] * 32), place, report.nonce, report.public_share, share)[1]
        for place, share in enumerate(report.input_shares)
    ]
    with pytest.raises(ProtocolError, match=PROOF):
        FIVE.verifier_message(shares)


@pytest.mark.parametrize(
    "vector",
    [[0] * 5, [1, 1, 0, 0, 0], [2, -1, 0, 0, 0], [0, 0, 0, 0, 7], [3**70, 1 - 3**70, 0, 0, 0]],
)
def test_a_vector_that_is_no_bucket_has_no_proof(vector: list[int]) -> None:
    with pytest.raises(ProtocolError, match=PROOF):
        outputs(FIVE, forged(FIVE, vector, random.Random(1)))


def test_a_number_above_the_maximum_has_no_proof_whatever_its_bits() -> None:
    sums = Prio3SumVec(1, 5, 2, context=CONTEXT)
    for bits in ([2, 0, 0], [1, 1, 2], [0, -1, 1], [0, 0, 5]):
        with pytest.raises(ProtocolError, match=PROOF):
            outputs(sums, forged(sums, bits, random.Random(2)))
    reached = {sums.unshard(outputs(sums, sums.shard([n])))[0] for n in range(6)}
    assert reached == set(range(6))


@pytest.mark.parametrize("change", [b"", b"\0"])
def test_a_message_of_another_length_is_refused_before_anything_is_computed(change: bytes) -> None:
    report = honest()
    for which, size in ((0, 16 * (5 + 4 + 7) + 32), (1, 64)):
        share = report.input_shares[which]
        assert len(share) == size
        wrong = share + change if change else share[:-1]
        with pytest.raises(ProtocolError, match=f"share must have {size} bytes"):
            FIVE.verify_init(VERIFY_KEY, which, report.nonce, report.public_share, wrong)
    start = VERIFY_KEY, 1
    with pytest.raises(ProtocolError, match="a public share must have 64 bytes, got 63"):
        FIVE.verify_init(*start, report.nonce, report.public_share[1:], report.input_shares[1])
    with pytest.raises(ProtocolError, match="a nonce must have 16 bytes, got 15"):
        FIVE.verify_init(*start, report.nonce[1:], report.public_share, report.input_shares[1])


def test_a_number_that_is_not_below_the_modulus_is_refused() -> None:
    report = honest()
    leader = b"\xff" * 16 + report.input_shares[0][16:]
    with pytest.raises(ProtocolError, match="not below the field's modulus"):
        FIVE.verify_init(VERIFY_KEY, 0, report.nonce, report.public_share, leader)


def test_the_shares_of_all_aggregators_are_needed() -> None:
    with pytest.raises(ProtocolError, match="2 verifier shares, got 1"):
        FIVE.verifier_message([b""])
    with pytest.raises(ProtocolError, match="2 aggregate shares, got 3"):
        FIVE.unshard([bytes(80)] * 3)
    with pytest.raises(ProtocolError, match="a verifier message must have 32 bytes, got 0"):
        FIVE.verify_next(FIVE.verify_init(VERIFY_KEY, 1, NONCE, bytes(64), bytes(64))[0], b"")


def test_a_query_at_a_root_of_unity_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer would be a gadget's input or output itself."""
    report, root = COUNT.shard(1), COUNT._field.elements([-1])
    monkeypatch.setattr(prio3_module, "xof_elements", lambda *_: root)
    with pytest.raises(ProtocolError, match="root of unity"):
        COUNT.verify_init(VERIFY_KEY, 0, report.nonce, b"", report.input_shares[0])


def test_callers_are_told_what_is_out_of_bounds() -> None:
    for wrong in (-1, 5):
        with pytest.raises(ParameterError, match="a bucket must be 0 to 4"):
            FIVE.shard(wrong)
    with pytest.raises(ParameterError, match="must be 0 or 1"):
        COUNT.shard(2)
    sums = Prio3SumVec(2, 9, 3, context=CONTEXT)
    with pytest.raises(ParameterError, match="a number must be 0 to 9"):
        sums.shard([1, 10])
    with pytest.raises(ParameterError, match="a vector must have 2 numbers"):
        sums.shard([1])
    with pytest.raises(ParameterError, match="shares must be 2 to 255, got 1"):
        Prio3Count(context=CONTEXT, shares=1)
    with pytest.raises(ParameterError, match="chunk_length must be >= 1, got 0"):
        Prio3Histogram(5, 0, context=CONTEXT)
    with pytest.raises(ParameterError, match="length must be >= 1, got 0"):
        Prio3Histogram(0, 1, context=CONTEXT)
    with pytest.raises(ParameterError, match="max_measurement must be >= 1"):
        Prio3SumVec(1, 0, 1, context=CONTEXT)
    with pytest.raises(ParameterError, match="nonce and rand must have 16 and 128 bytes"):
        FIVE.shard(1, nonce=b"short")
    with pytest.raises(ParameterError, match="a verify key must have 32 bytes"):
        FIVE.verify_init(b"short", 0, NONCE, b"", b"")
    with pytest.raises(ParameterError, match="aggregator must be 0 to 1, got 2"):
        FIVE.verify_init(VERIFY_KEY, 2, NONCE, b"", b"")
    with pytest.raises(ParameterError, match="noise must be 5 numbers"):
        FIVE.add_noise(bytes(80), [1])


def test_a_report_takes_the_bytes_of_the_formula() -> None:
    twenty = {chunk: Prio3Histogram(20, chunk, context=CONTEXT) for chunk in (4, 7)}
    assert {chunk: each.report_size for chunk, each in twenty.items()} == {4: 848, 7: 816}
    assert twenty[4].shard(3).size == 848


def test_noise_of_both_servers_is_in_the_result_and_may_be_negative() -> None:
    shares = [FIVE.aggregate([share]) for share in outputs(FIVE, honest(2))]
    noised = [
        FIVE.add_noise(shares[0], [0, -3, 1, 0, 0]),
        FIVE.add_noise(shares[1], [0, 0, 1, -9, 0]),
    ]
    assert FIVE.unshard(noised) == [0, -3, 3, -9, 0]


def test_nothing_that_is_secret_is_printed() -> None:
    report = honest()
    state, _ = FIVE.verify_init(
        VERIFY_KEY, 0, report.nonce, report.public_share, report.input_shares[0]
    )
    assert (repr(report), repr(state)) == ("Prio3Report()", "VerifyState()")


def test_a_report_is_drawn_anew_from_the_projects_source(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noting(count: int) -> bytes:
        asked.append(count)
        return random_bytes(count)

    monkeypatch.setattr(prio3_module, "random_bytes", noting)
    first, second = FIVE.shard(2), FIVE.shard(2)
    assert asked == 2 * [16, 4 * 32]
    seen = [
        {each.nonce, *each.input_shares, each.public_share[:32], each.public_share[32:]}
        for each in (first, second)
    ]
    assert not seen[0] & seen[1]

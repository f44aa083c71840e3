"""Noise that is drawn again is the same for the same data and secret, and no other."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sottovoce_spark import repeatable
from sottovoce_spark.repeatable import BoundKeystream, RepeatableMechanism, noise_secret

from sottovoce.errors import ParameterError, SottovoceError

SECRET, PURPOSE = bytes(32), b"p" * 32
COUNTS = csr_array(np.arange(4000).reshape(100, 40) % 7)


def drawn(keystream: BoundKeystream, number: int = 64) -> bytes:
    out = np.empty(number, np.uint8)
    keystream.fill(out)
    return out.tobytes()


def test_the_same_secret_and_purpose_give_the_same_noise_however_many_threads() -> None:
    first, second = (RepeatableMechanism("1/2", SECRET, PURPOSE) for _ in range(2))
    assert not (first.sparse(COUNTS, threads=8) - second.sparse(COUNTS)).nnz
    assert (first.dense(COUNTS.toarray(), threads=8) == second.dense(COUNTS.toarray())).all()
    assert (first.noise(1 << 20, threads=8) == second.noise(1 << 20)).all()


def test_no_two_draws_secrets_or_purposes_share_a_keystream() -> None:
    streams = {
        drawn(BoundKeystream(secret, purpose, number))
        for secret in (SECRET, b"\1" * 32)
        for purpose in (PURPOSE, b"q" * 32)
        for number in (1, 2)
    }
    assert len(streams) == 8
    mechanism = RepeatableMechanism("1/2", SECRET, PURPOSE)
    assert (mechanism.sparse(COUNTS) - mechanism.sparse(COUNTS)).nnz
    assert noise_secret() != noise_secret()


def test_a_key_is_changed_in_time_and_the_next_one_is_repeatable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeatable, "BYTES_PER_KEY", 64)
    first, second = (BoundKeystream(SECRET, PURPOSE, 1) for _ in range(2))
    pieces = [drawn(first) for _ in range(3)]
    assert pieces == [drawn(second) for _ in range(3)]
    assert len(set(pieces)) == 3


def test_a_keystream_cannot_be_copied_nor_taken_over_a_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keystream = BoundKeystream(SECRET, PURPOSE, 1)
    with pytest.raises(SottovoceError, match="copied"):
        pickle.dumps(keystream)
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(SottovoceError, match="fork"):
        drawn(keystream)


def test_a_secret_of_another_length_is_refused_and_never_shown() -> None:
    with pytest.raises(ParameterError) as raised:
        BoundKeystream(b"short-secret", PURPOSE, 1)
    assert "short" not in str(raised.value)

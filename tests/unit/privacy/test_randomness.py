"""The keystream is fresh for every use, thread and process."""

import copy
import os
import pickle
import runpy
import sys

import numpy as np
import pytest

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.privacy import randomness
from sottovoce.privacy.randomness import SystemKeystream, drawing_from

pytestmark = pytest.mark.system_randomness


def some_bytes(source: SystemKeystream, number: int = 64) -> bytes:
    out = np.empty(number, dtype=np.uint8)
    source.fill(out)
    return out.tobytes()


def test_two_keystreams_share_nothing() -> None:
    assert some_bytes(SystemKeystream()) != some_bytes(SystemKeystream())


def test_a_keystream_moves_on() -> None:
    source = SystemKeystream()
    assert some_bytes(source) != some_bytes(source)


def test_a_seed_that_others_draw_from_does_not_reach_the_noise() -> None:
    """A run that is replayed must not draw the noise of the first time again."""
    drawn = []
    for _ in range(2):
        with drawing_from(bytes(32)):
            drawn.append(some_bytes(SystemKeystream()))
    assert drawn[0] != drawn[1]


def test_long_draws_repeat_no_block() -> None:
    drawn = np.frombuffer(some_bytes(SystemKeystream(), 1 << 19), dtype="V16")
    assert len(set(drawn.tolist())) == drawn.size


def test_a_key_is_left_behind_after_its_share_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "BYTES_PER_KEY", 1 << 17)
    keys: list[bytes] = []

    def count_keys(number: int) -> bytes:
        keys.append(bytes(number))
        return bytes(number)

    monkeypatch.setattr("os.urandom", count_keys)
    source = SystemKeystream()
    some_bytes(source, 3 << 17)
    assert len(keys) == 3


def test_a_forked_child_does_not_repeat_its_parents_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    source = SystemKeystream()
    monkeypatch.setattr("os.getpid", lambda: -1)
    in_child = some_bytes(source)
    # The same state, had it gone on in the parent, is what a reused key would give.
    fresh = SystemKeystream()
    assert in_child != some_bytes(fresh)
    assert source._process == -1


def test_fork_for_real() -> None:
    source = SystemKeystream()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, some_bytes(source))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 64) != some_bytes(source)
    os.close(read)
    os.close(write)


def test_a_keystream_cannot_be_copied_or_stored() -> None:
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(SottovoceError, match="cannot be copied"):
            attempt(SystemKeystream())


def test_without_cryptography_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    monkeypatch.delitem(sys.modules, "sottovoce.privacy.randomness")
    with pytest.raises(MissingExtraError, match=r"pip install 'sottovoce\[release\]'"):
        runpy.run_module("sottovoce.privacy.randomness")

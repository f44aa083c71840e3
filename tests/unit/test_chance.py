"""Tests draw the same bits in every run, and no bits that anybody else draws."""

import random
from pathlib import Path

import pytest
from support.chance import drawing, drawn_once

import sottovoce as sv
from sottovoce.privacy.randomness import system_bytes


@pytest.fixture(scope="module")
def shared() -> bytes:
    return system_bytes(16)


@pytest.fixture(scope="class")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a spend, made for each test that is in no class."""
    ledger = tmp_path_factory.mktemp("ledger") / "ledger"
    sv.release_counts(["my debt"], words=["debt"], epsilon=2, precision=2, ledger=ledger)
    return ledger


named = pytest.mark.skipif(
    "config.getoption('--system-randomness')", reason="everything draws from the system"
)


@named
def test_a_test_draws_the_stream_of_its_name(request: pytest.FixtureRequest) -> None:
    stream = random.Random(request.node.nodeid)
    assert [system_bytes(16), system_bytes(4)] == [stream.randbytes(16), stream.randbytes(4)]


@named
@pytest.mark.parametrize("first", [True, False])
def test_what_tests_share_is_drawn_alike_whichever_is_first(shared: bytes, first: bool) -> None:
    named = random.Random("tests/unit/test_chance.py::shared[0]")
    assert shared == named.randbytes(16), first


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_ledger_that_is_made_again_is_not_taken_for_an_old_copy(
    released: Path, time: str
) -> None:
    assert released.exists(), time


@pytest.mark.system_randomness
def test_a_test_may_ask_for_the_operating_systems_bits(request: pytest.FixtureRequest) -> None:
    stream = random.Random(request.node.nodeid)
    assert system_bytes(16) != stream.randbytes(16)


def test_a_block_draws_its_stream_from_the_beginning_and_then_the_test_goes_on() -> None:
    drawn = []
    for _ in range(2):
        with drawing("a name"):
            drawn.append(system_bytes(16))
        drawn.append(system_bytes(16))
    assert drawn[0] == drawn[2]
    assert drawn[1] != drawn[3]


def test_what_is_kept_is_drawn_alike_whoever_asks_first_and_takes_no_bits_from_them() -> None:
    makers = [drawn_once(_drawn) for _ in range(2)]
    with drawing("a name"):
        first, after = makers[0](8), system_bytes(4)
    with drawing("another"):
        system_bytes(3)
        assert makers[1](8) == first == makers[0](8)
    with drawing("a name"):
        assert system_bytes(4) == after
    assert makers[0](9)[:8] != first


def _drawn(count: int) -> bytes:
    return system_bytes(count)


def test_a_child_draws_other_bits_than_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parties with the same bits would share their masks."""
    with drawing("a name"):
        in_parent = system_bytes(16)
    with drawing("a name"):
        monkeypatch.setattr("os.getpid", lambda: -1)
        assert system_bytes(16) != in_parent

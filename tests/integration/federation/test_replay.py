"""A party that is rebuilt from its journal is the party that crashed."""

from collections.abc import Iterator
from typing import Any

import pytest
from support.federations import ToyHidden, ToySum, ToyTraining, in_process
from support.hidden_systems import small_keys_allowed
from support.rehearsal import Crash, rehearse

from sottovoce.errors import EarlyMessageError, ReplayMismatchError
from sottovoce.federation._journal import Event
from sottovoce.federation._node import state as run_module
from sottovoce.federation._node.state import Run, begin_party, rebuilt, receive_message, step_seed
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Message

PEERS = ("ann", "bob", "cy")
SUM = ToySum(PEERS)
SEED = bytes(range(32))


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def said_by(name: str, monkeypatch: pytest.MonkeyPatch, *crashes: Crash) -> list[bytes]:
    """All that a party says, crashed or not, under one seed; replays included."""
    said: list[bytes] = []
    real_begun, real_received = run_module.begin_party, run_module.receive_message

    def noted(party: Any, messages: list[Message]) -> list[Message]:  # noqa: ANN401 - any party
        if party.name == name:
            said.extend(message.to_bytes() for message in messages)
        return messages

    def begin(*given: Any) -> Any:  # noqa: ANN401 - as the true one
        party, messages = real_begun(*given)
        return party, noted(party, messages)

    def receive(party: Any, *given: Any) -> Any:  # noqa: ANN401 - as the true one
        return noted(party, real_received(party, *given))

    for module in ("state", "worker"):
        monkeypatch.setattr(f"sottovoce.federation._node.{module}.begin_party", begin)
        monkeypatch.setattr(f"sottovoce.federation._node.{module}.receive_message", receive)
    rehearse(SUM, *crashes)
    monkeypatch.undo()
    return said


@pytest.mark.parametrize("turn", [1, 2, 3, 4, 5])
def test_a_rebuilt_party_says_the_same_bytes_again(
    turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = said_by("ann", monkeypatch, Crash("ann", "before send", turn))
    # Five messages, of which the first ``turn`` are said once more on the way back.
    assert len(said) == 5 + turn
    assert len(set(said)) == 5
    assert said[turn : 2 * turn] == said[:turn]


def test_each_step_draws_from_a_stream_of_its_own() -> None:
    assert len({step_seed(SEED, at) for at in range(100)}) == 100
    assert step_seed(SEED, 1) != step_seed(bytes(32), 1)


def test_a_message_that_is_refused_does_not_shift_what_is_drawn_later() -> None:
    terms = SUM.terms()
    server, _ = begin_party(SUM.made, terms, COORDINATOR, SEED)
    peers = [
        begin_party(SUM.made, terms, name, bytes([at]) * 32) for at, name in enumerate(PEERS, 1)
    ]
    for _, (keys,) in peers[:-1]:
        assert receive_message(server, keys, SEED, 1) == []
    directory = next(
        m for m in receive_message(server, peers[-1][1][0], SEED, 3) if m.receiver == "ann"
    )
    twin, _ = begin_party(SUM.made, terms, "ann", bytes([1]) * 32)
    ann = peers[0][0]
    early = Message(terms, COORDINATOR, "ann", 10, "sum", {})
    with pytest.raises(EarlyMessageError):
        receive_message(ann, early, bytes([1]) * 32, 1)
    one = receive_message(ann, directory, bytes([1]) * 32, 1)
    other = receive_message(twin, directory, bytes([1]) * 32, 1)
    assert [m.to_bytes() for m in one] == [m.to_bytes() for m in other]


def test_a_party_that_says_something_else_than_before_is_not_resumed() -> None:
    terms = SUM.terms()
    run = Run(terms, SUM.names, terms, SEED)
    events = [Event(0, "start", "", 0, ("coordinator|another|1|keys",))]
    with pytest.raises(ReplayMismatchError, match="said before the crash"):
        rebuilt(SUM.made, run, "ann", events, lambda *_: b"")
    with pytest.raises(ReplayMismatchError, match="must be the start"):
        rebuilt(SUM.made, run, "ann", [Event(0, "receive", "bob", 1, ())], lambda *_: b"")


def test_without_the_stream_a_crash_would_spoil_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: parties that draw afresh when they are rebuilt are found out."""
    from contextlib import nullcontext  # noqa: PLC0415 - the fault itself

    monkeypatch.setattr(run_module, "drawing_from", lambda _: nullcontext())
    toy = ToyTraining(PEERS)
    _, outcome = rehearse(toy, Crash("ann", "before send", 5))
    assert in_process(toy) not in outcome.ends.values()


@pytest.mark.parametrize("point", ["before commit", "before send", "after acknowledgement"])
@pytest.mark.parametrize("name", [COORDINATOR, "key holder", "ann"])
def test_a_hidden_training_goes_on_after_a_crash(name: str, point: str) -> None:
    toy = ToyHidden(PEERS)
    _, outcome = rehearse(toy, Crash(name, point, 5))
    assert not any(isinstance(end, str) for end in outcome.ends.values()), outcome.ends
    assert toy.direction(outcome.ends) == toy.plain_direction()

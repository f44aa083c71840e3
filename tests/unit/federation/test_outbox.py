"""What is sent when, and what becomes of a run by the answers."""

import pytest
from support.federations import JOURNAL_KEY, ToySum, bare_roster

from sottovoce.errors import StalledError
from sottovoce.federation._journal import Journal
from sottovoce.federation._node.dispatcher import Dispatcher, Machines
from sottovoce.federation.transport.frames import VERSION, Answer, Beat, Frame, Settings
from sottovoce.learn.training_terms import COORDINATOR

TOY = ToySum(("ann", "bob", "cy"))
TAKEN = Answer(VERSION, "taken")


def proposing() -> tuple[Dispatcher, bytes]:
    machines = Machines(TOY.made, TOY.result)
    journal = Journal(None, JOURNAL_KEY)
    dispatcher = Dispatcher(COORDINATOR, bare_roster(TOY.names), journal, machines, now=0.0)
    return dispatcher, dispatcher.propose(TOY.terms(), TOY.names, 0.0)


def sent(dispatcher: Dispatcher, now: float, receiver: str = "ann") -> Frame:
    frame = dispatcher.outbox.due(receiver, now)
    assert frame is not None
    return frame


def test_one_frame_is_under_way_to_a_receiver_at_a_time() -> None:
    dispatcher, _ = proposing()
    frame = sent(dispatcher, 0.0)
    assert dispatcher.outbox.due("ann", 0.0) is None
    assert dispatcher.outbox.next_due("ann") is None
    sent(dispatcher, 0.0, "bob")
    dispatcher.outbox.settle(frame, TAKEN, 0.1)
    assert dispatcher.outbox.due("ann", 10.0) is None


def test_a_frame_is_sent_again_after_waits_that_double_up_to_a_bound() -> None:
    dispatcher, _ = proposing()
    now, waits = 0.0, []
    for _ in range(8):
        dispatcher.outbox.settle(sent(dispatcher, now), None, now)
        due = dispatcher.outbox.next_due("ann")
        assert due is not None
        waits.append(round(due - now, 3))
        assert dispatcher.outbox.due("ann", due - 0.001) is None
        now = due
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0]


def test_an_answer_that_the_run_has_ended_ends_it_here_under_the_same_name() -> None:
    dispatcher, session = proposing()
    answer = Answer(VERSION, "ended", "TooFewPartiesError", "too few\x1b[31m are left.")
    dispatcher.outbox.settle(sent(dispatcher, 0.0), answer, 1.0)
    error = dispatcher.error(session)
    assert error is not None
    assert (error.by, error.error) == ("ann", "TooFewPartiesError")
    assert "\x1b" not in str(error)
    assert dispatcher.outbox.due("ann", 2.0) is None  # it knows
    assert sent(dispatcher, 2.0, "bob").header.kind == "abort"


@pytest.mark.parametrize(
    ("error", "named"), [("TooLargeError", "TooLargeError: "), ("RunRefusedError", "")]
)
def test_a_proposal_that_is_refused_ends_the_run_with_the_reason(error: str, named: str) -> None:
    """Which is named once: a run that was refused is refused."""
    dispatcher, session = proposing()
    dispatcher.outbox.settle(sent(dispatcher, 0.0), Answer(VERSION, "refused", error, "no."), 1.0)
    found = dispatcher.error(session)
    assert found is not None
    assert found.error == "RunRefusedError"
    assert str(found).endswith(f"RunRefusedError: ann refuses: {named}no.")


def test_a_message_that_is_refused_ends_the_run_with_the_reason() -> None:
    dispatcher, session = proposing()
    dispatcher.outbox.settle(sent(dispatcher, 0.0), TAKEN, 0.1)
    run = dispatcher.state.runs[session]
    work = dispatcher.worker.next_work()
    assert work is not None
    dispatcher.worker.compute(work)
    dispatcher.worker.keep(work, 0.1)
    dispatcher.worker._complain(run, "ann", StalledError("x"), 0.2)
    frame = sent(dispatcher, 0.3)
    assert frame.header.kind == "refusal"
    dispatcher.outbox.settle(frame, Answer(VERSION, "refused", "TooLargeError", "no."), 1.0)
    found = dispatcher.error(session)
    assert found is not None
    assert found.error == "MessageRefusedError"


def test_an_answer_that_comes_after_the_end_changes_nothing() -> None:
    dispatcher, session = proposing()
    frame = sent(dispatcher, 0.0)
    dispatcher.abort(session, StalledError("x"), 1.0)
    dispatcher.outbox.settle(frame, TAKEN, 1.1)
    assert sent(dispatcher, 1.2).header.kind == "abort"


def test_what_an_ended_run_has_to_say_is_given_up_in_the_end() -> None:
    dispatcher, session = proposing()
    dispatcher.abort(session, StalledError("x"), 1.0)
    dispatcher.outbox.settle(sent(dispatcher, 1.0), TAKEN, 1.1)
    dispatcher.heartbeat.tick(60.0)
    assert not dispatcher.state.runs[session].drained
    dispatcher.heartbeat.tick(62.0)
    assert dispatcher.state.runs[session].drained
    assert dispatcher.outbox.next_due("bob") is None
    assert dispatcher.state.journal.list_frames(session, "unsent") == []
    kept = dispatcher.state.journal.run(session)
    assert kept is not None
    assert kept.seed == b""


def test_beats_of_strangers_and_of_unknown_runs_change_nothing() -> None:
    dispatcher, session = proposing()
    answer = dispatcher.heartbeat.answer_beat(
        Beat(VERSION, "ann", {session: "idle", bytes(16): "busy"}), 5.0
    )
    assert answer.states == {session: "busy", bytes(16): "unknown"}
    assert dispatcher.state.runs[session].heard["ann"] == 5.0
    dispatcher.heartbeat.note(Beat(VERSION, "stranger", {session: "busy"}), 6.0)
    assert set(dispatcher.state.runs[session].heard) == set(TOY.peers)


def test_a_party_that_is_slow_is_waited_for_and_one_that_knows_nothing_is_not() -> None:
    dispatcher, session = proposing()
    run = dispatcher.state.runs[session]
    for peer in TOY.peers:
        dispatcher.outbox.settle(sent(dispatcher, 0.0, peer), TAKEN, 0.0)
    work = dispatcher.worker.next_work()
    assert work is not None
    dispatcher.worker.compute(work)
    dispatcher.worker.keep(work, 0.0)
    for now in range(100):
        for peer in TOY.peers:
            dispatcher.heartbeat.note(Beat(VERSION, peer, {session: "busy"}), float(now))
        dispatcher.heartbeat.tick(float(now))
    assert run.wants_time_out == ()
    for peer in TOY.peers:
        dispatcher.heartbeat.note(Beat(VERSION, peer, {session: "unknown"}), 101.0)
    dispatcher.heartbeat.tick(101.0)
    assert run.wants_time_out == TOY.peers


def test_settings_that_cannot_be_are_refused() -> None:
    for wrong in ({"beat_s": 0.0}, {"deadline_s": 1.0}, {"largest_body": 1 << 40}):
        with pytest.raises(ValueError, match="must be"):
            Settings(**wrong)

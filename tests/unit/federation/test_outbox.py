"""What is sent when, and what becomes of a run by the answers."""

import pytest
from support.federations import JOURNAL_KEY, ToySum, bare_roster

from sottovoce.federation._journal.journal import Journal
from sottovoce.federation._node.dispatcher import Dispatcher, Machines
from sottovoce.federation._transport.frames import VERSION, Answer, Beat, Frame, Settings
from sottovoce.learn._training_terms import COORDINATOR
from sottovoce.learn._wire._refusals import StalledError

TOY = ToySum(("ann", "bob", "cy"))
TAKEN = Answer(VERSION, "taken")


def proposing() -> tuple[Dispatcher, bytes]:
    machines = Machines(TOY.made, TOY.result)
    journal = Journal(None, JOURNAL_KEY)
    desk = Dispatcher(COORDINATOR, bare_roster(TOY.names), journal, machines, now=0.0)
    return desk, desk.propose(TOY.terms(), TOY.names, 0.0)


def sent(desk: Dispatcher, now: float, receiver: str = "ann") -> Frame:
    frame = desk.courier.due(receiver, now)
    assert frame is not None
    return frame


def test_one_frame_is_under_way_to_a_receiver_at_a_time() -> None:
    desk, _ = proposing()
    frame = sent(desk, 0.0)
    assert desk.courier.due("ann", 0.0) is None
    assert desk.courier.next_due("ann") is None
    sent(desk, 0.0, "bob")
    desk.courier.settled(frame, TAKEN, 0.1)
    assert desk.courier.due("ann", 10.0) is None


def test_a_frame_is_sent_again_after_waits_that_double_up_to_a_bound() -> None:
    desk, _ = proposing()
    now, waits = 0.0, []
    for _ in range(8):
        desk.courier.settled(sent(desk, now), None, now)
        due = desk.courier.next_due("ann")
        assert due is not None
        waits.append(round(due - now, 3))
        assert desk.courier.due("ann", due - 0.001) is None
        now = due
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0]


def test_an_answer_that_the_run_has_ended_ends_it_here_under_the_same_name() -> None:
    desk, session = proposing()
    answer = Answer(VERSION, "ended", "TooFewPartiesError", "too few\x1b[31m are left.")
    desk.courier.settled(sent(desk, 0.0), answer, 1.0)
    error = desk.error(session)
    assert error is not None
    assert (error.by, error.error) == ("ann", "TooFewPartiesError")
    assert "\x1b" not in str(error)
    assert desk.courier.due("ann", 2.0) is None  # it knows
    assert sent(desk, 2.0, "bob").header.kind == "abort"


@pytest.mark.parametrize("error", ["TooLargeError", "RunRefusedError"])
def test_a_proposal_that_is_refused_ends_the_run_with_the_reason(error: str) -> None:
    desk, session = proposing()
    desk.courier.settled(sent(desk, 0.0), Answer(VERSION, "refused", error, "no."), 1.0)
    found = desk.error(session)
    assert found is not None
    assert found.error == "RunRefusedError"
    assert f"ann refuses: {error}: no." in str(found)


def test_a_message_that_is_refused_ends_the_run_with_the_reason() -> None:
    desk, session = proposing()
    desk.courier.settled(sent(desk, 0.0), TAKEN, 0.1)
    run = desk.books.runs[session]
    work = desk.workbench.next_work()
    assert work is not None
    desk.workbench.compute(work)
    desk.workbench.done(work, 0.1)
    desk.workbench._complain(run, "ann", StalledError("x"), 0.2)
    frame = sent(desk, 0.3)
    assert frame.header.kind == "refusal"
    desk.courier.settled(frame, Answer(VERSION, "refused", "TooLargeError", "no."), 1.0)
    found = desk.error(session)
    assert found is not None
    assert found.error == "MessageRefusedError"


def test_an_answer_that_comes_after_the_end_changes_nothing() -> None:
    desk, session = proposing()
    frame = sent(desk, 0.0)
    desk.abort(session, StalledError("x"), 1.0)
    desk.courier.settled(frame, TAKEN, 1.1)
    assert sent(desk, 1.2).header.kind == "abort"


def test_what_an_ended_run_has_to_say_is_given_up_in_the_end() -> None:
    desk, session = proposing()
    desk.abort(session, StalledError("x"), 1.0)
    desk.courier.settled(sent(desk, 1.0), TAKEN, 1.1)
    desk.watch.tick(60.0)
    assert not desk.books.runs[session].drained
    desk.watch.tick(62.0)
    assert desk.books.runs[session].drained
    assert desk.courier.next_due("bob") is None
    assert desk.books.journal.unsent(session) == []
    kept = desk.books.journal.run(session)
    assert kept is not None
    assert kept.seed == b""


def test_beats_of_strangers_and_of_unknown_runs_change_nothing() -> None:
    desk, session = proposing()
    answer = desk.watch.heard(Beat(VERSION, "ann", {session: "idle", bytes(16): "busy"}), 5.0)
    assert answer.states == {session: "busy", bytes(16): "unknown"}
    assert desk.books.runs[session].heard["ann"] == 5.0
    desk.watch.note(Beat(VERSION, "stranger", {session: "busy"}), 6.0)
    assert set(desk.books.runs[session].heard) == set(TOY.peers)


def test_a_party_that_is_slow_is_waited_for_and_one_that_knows_nothing_is_not() -> None:
    desk, session = proposing()
    run = desk.books.runs[session]
    for peer in TOY.peers:
        desk.courier.settled(sent(desk, 0.0, peer), TAKEN, 0.0)
    work = desk.workbench.next_work()
    assert work is not None
    desk.workbench.compute(work)
    desk.workbench.done(work, 0.0)
    for now in range(100):
        for peer in TOY.peers:
            desk.watch.note(Beat(VERSION, peer, {session: "busy"}), float(now))
        desk.watch.tick(float(now))
    assert run.wants_time_out == ()
    for peer in TOY.peers:
        desk.watch.note(Beat(VERSION, peer, {session: "unknown"}), 101.0)
    desk.watch.tick(101.0)
    assert run.wants_time_out == TOY.peers


def test_settings_that_cannot_be_are_refused() -> None:
    for wrong in ({"beat_s": 0.0}, {"deadline_s": 1.0}, {"largest_body": 1 << 40}):
        with pytest.raises(ValueError, match="must be"):
            Settings(**wrong)

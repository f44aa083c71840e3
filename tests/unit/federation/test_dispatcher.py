"""What a dispatcher refuses, what it tells the others, and what it shows of a run."""

import json
from typing import Any

import numpy as np
import pytest
from support.federations import JOURNAL_KEY, ToySum, ToyTraining, bare_roster, in_process
from support.rehearsal import rehearse

from sottovoce.errors import (
    AbortedError,
    InputError,
    MessageRefusedError,
    ParameterError,
    StalledError,
)
from sottovoce.federation._journal import Journal
from sottovoce.federation._node.dispatcher import Dispatcher, Machines
from sottovoce.federation.transport.frames import (
    VERSION,
    Answer,
    Beat,
    Frame,
    Proposal,
    Settings,
    pack_frame,
)
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Message, Party

PEERS = ("ann", "bob", "cy")
SUM = ToySum(PEERS)


def dispatcher(name: str = "ann", machines: Machines | None = None) -> Dispatcher:
    journal = Journal(None, JOURNAL_KEY)
    machines = machines or Machines(SUM.made, SUM.result)
    return Dispatcher(name, bare_roster(SUM.names), journal, machines, now=0.0)


def proposal(sender: str = COORDINATOR, **changes: Any) -> Frame:  # noqa: ANN401 - of a proposal
    given = {"terms": SUM.terms(), "participants": list(SUM.names)} | changes
    proposed = Proposal(**given)
    return Frame.make("propose", proposed.session, sender, "ann", 1, pack_frame(proposed))


def test_a_party_that_declines_ends_the_run_with_its_sentence() -> None:
    def policy(terms: bytes, proposer: str) -> str | None:
        del terms
        return f"not with {proposer}."

    ann = dispatcher(machines=Machines(SUM.made, SUM.result, policy=policy))
    answer = ann.inbox.take(proposal(), 0.0)
    assert answer == Answer(VERSION, "refused", "RunRefusedError", "not with coordinator.")
    _, outcome = rehearse(SUM, machines=Machines(SUM.made, SUM.result, policy=policy))
    assert outcome.ends[COORDINATOR] == "RunRefusedError"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"participants": ["ann", "nobody", COORDINATOR]}, "on the roster"),
        ({"participants": ["bob", COORDINATOR]}, "ann must be among"),
        ({"participants": ["ann", "ann", COORDINATOR]}, "each only once"),
    ],
)
def test_a_proposal_of_impossible_participants_is_refused(
    changes: dict[str, Any], sentence: str
) -> None:
    answer = dispatcher().inbox.take(proposal(**changes), 0.0)
    assert answer.outcome == "refused"
    assert sentence in answer.sentence


def test_a_proposal_under_another_runs_name_is_refused() -> None:
    frame = proposal()
    forged = Frame.make("propose", bytes(16), COORDINATOR, "ann", 1, frame.body)
    assert "named by its terms" in dispatcher().inbox.take(forged, 0.0).sentence


def test_the_same_terms_are_never_run_twice() -> None:
    coordinator, terms = dispatcher(COORDINATOR), SUM.terms()
    coordinator.propose(terms, SUM.names, 0.0)
    with pytest.raises(ParameterError, match="made before"):
        coordinator.propose(terms, SUM.names, 0.0)
    with pytest.raises(ParameterError, match="only the coordinator"):
        dispatcher("ann").propose(terms, SUM.names, 0.0)


def test_frames_out_of_order_are_put_off_and_repeated_ones_not_read() -> None:
    ann, first = dispatcher(), proposal()
    session = first.header.session
    third = Frame.make("message", session, COORDINATOR, "ann", 3, b"any")
    assert ann.inbox.admit(third.header) == Answer(VERSION, "later")
    assert ann.inbox.take(first, 0.0).outcome == "taken"
    assert ann.inbox.admit(first.header) == Answer(VERSION, "taken")
    assert ann.inbox.admit(third.header) == Answer(VERSION, "later")
    second = Frame.make("message", session, COORDINATOR, "ann", 2, b"any")
    assert ann.inbox.admit(second.header) is None
    stranger = Frame.make("message", session, "ann", "ann", 1, b"any")
    answer = ann.inbox.admit(stranger.header)
    assert answer is not None
    assert answer.error == "StrangerError"


def test_a_sender_that_runs_ahead_is_put_off() -> None:
    ann, first = dispatcher(), proposal()
    ann.inbox.take(first, 0.0)
    for at in range(2, 100):
        frame = Frame.make("message", first.header.session, COORDINATOR, "ann", at, b"any")
        answer = ann.inbox.take(frame, 0.0)
        if answer.outcome == "later":
            break
    assert at - 2 == ann.state.settings.most_held


class WrongSize:
    """A peer that adds a vector of another length than agreed."""

    def __init__(self, inner: Party) -> None:
        self.inner, self.name = inner, inner.name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the true one has
        return getattr(self.inner, name)

    def receive(self, message: Message) -> list[Message]:
        said = self.inner.receive(message)
        return [self._changed(each) for each in said]

    def _changed(self, message: Message) -> Message:
        if message.kind != "masked":
            return message
        payload = {"vector": np.zeros(99, np.uint64)}
        head = (message.session, message.sender, message.receiver, message.step, message.kind)
        return Message(*head, payload)


def test_wrong_dimensions_are_told_to_whoever_sent_them_and_end_the_run_by_name() -> None:
    def made(terms: bytes, name: str) -> Any:  # noqa: ANN401 - a party or one that misbehaves
        party = SUM.made(terms, name)
        return WrongSize(party) if name == "bob" else party

    rehearsal, outcome = rehearse(SUM, machines=Machines(made, SUM.result))
    assert set(outcome.ends.values()) == {"MessageRefusedError"}
    bob = rehearsal.dispatchers["bob"]
    assert bob is not None
    (run,) = bob.state.runs.values()
    assert run.ended["by"] == "bob"
    assert "must have 4 values" in run.ended["sentence"]
    assert outcome.lasted_s < 5


@pytest.mark.parametrize(
    ("error", "named", "owner"),
    [
        (InputError("cy's secret.csv has one class only."), "InputError", "one class only"),
        (KeyError("secret"), "DefectError", ""),
    ],
)
def test_an_error_of_a_partys_own_data_is_named_to_others_without_its_sentence(
    error: Exception, named: str, owner: str
) -> None:
    """Of one that nobody planned nothing is said at all."""

    def made(terms: bytes, name: str) -> Party:
        if name == "cy":
            raise error
        return SUM.made(terms, name)

    rehearsal, outcome = rehearse(SUM, machines=Machines(made, SUM.result))
    assert set(outcome.ends.values()) == {named}
    told = {name: d.status(0)["runs"][0]["ended"] for name, d in rehearsal.dispatchers.items() if d}
    assert owner in told["cy"]["sentence"]
    assert all("secret" not in told[name]["sentence"] for name in ("ann", "bob", COORDINATOR))
    assert told["ann"]["by"] == "cy"
    if named == "DefectError":
        assert "secret" not in str(rehearsal.events)


def test_a_run_can_be_ended_by_hand_and_says_so_everywhere() -> None:
    coordinator, session = proposing()
    assert coordinator.error(session) is None
    coordinator.abort(session, MessageRefusedError("enough."), 1.0)
    with pytest.raises(AbortedError, match="enough") as caught:
        coordinator.result(session)
    assert (caught.value.by, caught.value.error) == (COORDINATOR, "MessageRefusedError")
    frame = coordinator.outbox.due("ann", 2.0)
    assert frame is not None
    assert frame.header.kind == "abort"
    with pytest.raises(ParameterError, match="no run"):
        coordinator.result(bytes(16))


def test_status_and_transcript_say_everything_but_values() -> None:
    toy = ToyTraining(PEERS)
    rehearsal, outcome = rehearse(toy)
    assert set(outcome.ends.values()) == {in_process(toy)}
    ann = rehearsal.dispatchers["ann"]
    assert ann is not None
    (run,) = ann.status(rehearsal.now)["runs"]
    assert run["status"] == "finished"
    assert run["rounds"] == 23
    rows = ann.transcript(bytes.fromhex(run["session"]))
    assert run["bytes_sent"] == sum(row["bytes"] for row in rows if row["sender"] == "ann") > 0
    assert run["bytes_received"] == sum(r["bytes"] for r in rows if r["receiver"] == "ann") > 0
    masked = [row for row in rows if row.get("kind") == "masked"]
    assert masked[0]["fields"] == {"vector": "uint64 21"}
    assert {(row["sender"], row["receiver"]) for row in rows} == {
        ("ann", COORDINATOR),
        (COORDINATOR, "ann"),
    }
    json.dumps(rows)


def test_a_waiting_party_says_whom_it_waits_for() -> None:
    coordinator, _ = proposing()
    work_once(coordinator)
    (run,) = coordinator.status(100.0)["runs"]
    assert run["waiting_for"] == ["ann", "bob", "cy"]
    assert run["unsent_to"] == ["ann", "bob", "cy"]
    assert run["doing"] == "idle"


TAKEN = Answer(VERSION, "taken")


def proposing() -> tuple[Dispatcher, bytes]:
    """A coordinator that has just proposed a run."""
    coordinator = dispatcher(COORDINATOR)
    return coordinator, coordinator.propose(SUM.terms(), SUM.names, 0.0)


def work_once(dispatcher: Dispatcher) -> None:
    work = dispatcher.worker.next_work()
    assert work is not None
    dispatcher.worker.compute(work)
    dispatcher.worker.keep(work, 0.0)


def sent(dispatcher: Dispatcher, now: float, receiver: str = "ann") -> Frame:
    frame = dispatcher.outbox.due(receiver, now)
    assert frame is not None
    return frame


def test_a_frame_is_sent_again_after_waits_that_double_up_to_a_bound() -> None:
    dispatcher, _ = proposing()
    now, waits = 0.0, []
    frame = sent(dispatcher, now)
    assert dispatcher.outbox.due("ann", now) is None, "one is under way at a time"
    for _ in range(8):
        dispatcher.outbox.settle(frame, None, now)
        due = dispatcher.outbox.next_due("ann")
        assert due is not None
        waits.append(round(due - now, 3))
        assert dispatcher.outbox.due("ann", due - 0.001) is None
        now, frame = due, sent(dispatcher, due)
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
    assert set(dispatcher.state.runs[session].heard) == set(PEERS)


def test_a_party_that_is_slow_is_waited_for_and_one_that_knows_nothing_is_not() -> None:
    dispatcher, session = proposing()
    run = dispatcher.state.runs[session]
    for peer in PEERS:
        dispatcher.outbox.settle(sent(dispatcher, 0.0, peer), TAKEN, 0.0)
    work_once(dispatcher)
    for now in range(100):
        for peer in PEERS:
            dispatcher.heartbeat.note(Beat(VERSION, peer, {session: "busy"}), float(now))
        dispatcher.heartbeat.tick(float(now))
    assert run.wants_time_out == ()
    for peer in PEERS:
        dispatcher.heartbeat.note(Beat(VERSION, peer, {session: "unknown"}), 101.0)
    dispatcher.heartbeat.tick(101.0)
    assert run.wants_time_out == SUM.peers


def test_settings_that_cannot_be_are_refused() -> None:
    for wrong in ({"beat_s": 0.0}, {"deadline_s": 1.0}, {"largest_body": 1 << 40}):
        with pytest.raises(ValueError, match="must be"):
            Settings(**wrong)

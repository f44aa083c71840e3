"""The worker: a step is computed, journalled with all that it says, and then sent."""

from dataclasses import dataclass, field

from sottovoce.errors import (
    DamagedMessageError,
    DefectError,
    EarlyMessageError,
    LateMessageError,
    LostPartyError,
    ReplayedMessageError,
    SottovoceError,
    TooLargeError,
    UnexpectedMessageError,
)
from sottovoce.federation._journal import Event
from sottovoce.federation._node.exchange import Aborts
from sottovoce.federation._node.state import (
    NodeState,
    PartyMaker,
    ResultOf,
    Run,
    begin_party,
    bound_after,
    brought_digest,
    describe_message,
    first_bound,
    outline,
    public_error,
    read_message,
    rebuilt,
    receive_message,
    timed_out,
)
from sottovoce.federation.transport.frames import Complaint, OutgoingFrame, pack_frame
from sottovoce.learn.wire.message import Message, Party

_DROPPED = (LateMessageError, ReplayedMessageError)
# The sender's fault: it must hear of it, since the party goes on waiting for the true message.
_ANSWERED = (DamagedMessageError, UnexpectedMessageError)
_SEPARATOR = "\n"  # of names of those whom a step went on without


@dataclass
class RunStep:
    """One step to compute, and what came of it."""

    run: Run
    what: str
    sender: str = ""
    sequence: int = 0
    body: bytes = field(default=b"", repr=False)
    events: list[Event] = field(default_factory=list)
    bodies: dict[tuple[str, int], bytes] = field(default_factory=dict, repr=False)
    missing: tuple[str, ...] = ()
    party: Party | None = field(default=None, repr=False)
    message: Message | None = field(default=None, repr=False)
    said: list[Message] = field(default_factory=list, repr=False)
    written: list[bytes] = field(default_factory=list, repr=False)
    result: bytes | None = field(default=None, repr=False)
    bound: bytes = field(default=b"", repr=False)
    stuck: bool = False
    error: BaseException | None = None


class Worker:
    """Hands out work, computes it, and keeps what came of it.

    `next_work` and `done` are called by whoever may change the node state; `compute` by anybody,
    since it touches nothing but its work and the party of its run.
    """

    def __init__(
        self, state: NodeState, aborts: Aborts, make: PartyMaker, result_of: ResultOf
    ) -> None:
        self._state, self._aborts = state, aborts
        self._make, self._result_of = make, result_of

    def next_work(self) -> RunStep | None:
        """Something to do, or None."""
        for run in self._state.runs.values():
            if run.status == "running" and not run.working:
                work = self._work_of(run)
                if work is not None:
                    run.working = True
                    return work
        return None

    def compute(self, work: RunStep) -> None:
        """Do it; errors are part of what comes of it."""
        try:
            self._compute(work)
        except Exception as error:  # noqa: BLE001 - a party's failure ends its run, never the node
            work.error = error

    def keep(self, work: RunStep, now: float) -> None:
        """Keep what came of it, and let it be sent."""
        run = work.run
        run.working = False
        if run.status != "running":
            return
        if work.error is not None:
            self._fail_run(work, work.error, now)
        elif work.what == "rebuild":
            self._rebuilt(work, now)
        elif work.stuck:
            names = ", ".join(work.missing)
            sentence = (
                f"{self._state.name} has heard nothing from {names}, and cannot go on without; "
                "see that it runs and can be reached, and begin again."
            )
            self._aborts.abort(run, LostPartyError(sentence, work.missing), now)
        else:
            self._advance_run(work, now)

    def _work_of(self, run: Run) -> RunStep | None:
        if run.party is None:
            return self._beginning(run)
        if run.wants_time_out:
            missing, run.wants_time_out = run.wants_time_out, ()
            return RunStep(run, "time out", missing=missing, party=run.party)
        place = run.ready()
        if place is None:
            return None
        body = self._state.journal.read_frame(run.session, "in", *place)[1]
        return RunStep(run, "receive", *place, body=body, party=run.party)

    def _beginning(self, run: Run) -> RunStep:
        events = self._state.journal.events(run.session)
        if not events:
            return RunStep(run, "start")
        places = [(e.sender, e.sequence) for e in events if e.what == "receive"]
        journal = self._state.journal
        bodies = {place: journal.read_frame(run.session, "in", *place)[1] for place in places}
        return RunStep(run, "rebuild", events=events, bodies=bodies)

    def _compute(self, work: RunStep) -> None:
        run, name = work.run, self._state.name
        if work.what == "rebuild":
            bodies = work.bodies
            work.party, work.bound = rebuilt(
                self._make, run, name, work.events, lambda *at: bodies[at]
            )
            return
        if work.what == "start":
            work.party, work.said = begin_party(self._make, run.terms, name, run.seed)
            work.bound = first_bound(work.party, run.terms, run.seed)
        elif work.party is None:
            raise DefectError("a party must start before it continues.")
        elif work.what == "time out":
            before = run.find_awaited()
            work.bound = bound_after(run.bound, work.what, _SEPARATOR.join(work.missing))
            work.said = timed_out(work.party, run.seed, run.position, work.bound)
            moved = work.said or work.party.has_finished or run.find_awaited() != before
            work.stuck = not moved
        else:
            work.message = read_message(work.body, work.sender, name)
            work.bound = bound_after(run.bound, work.what, work.sender, work.body)
            work.said = receive_message(
                work.party, work.message, run.seed, run.position, work.bound
            )
        work.written = [self._check_message(run, message) for message in work.said]
        if work.party.has_finished:
            work.result = self._result_of(work.party)

    def _check_message(self, run: Run, message: Message) -> bytes:
        if message.receiver not in run.links:
            raise DefectError("a party sent a message to somebody outside its run.")
        body, most = message.to_bytes(), self._state.settings.largest_body
        if len(body) > most:
            raise TooLargeError(
                f"a message must have at most {most} bytes, got {message.kind} of {len(body)}; "
                "raise largest_body at every party."
            )
        return body

    def _rebuilt(self, work: RunStep, now: float) -> None:
        run = work.run
        run.party, run.position, run.moved = work.party, len(work.events), now
        run.bound = work.bound
        run.rounds = sum(1 for event in work.events if event.said)
        timed_out = (event for event in work.events if event.what == "time out")
        run.lost = {name for event in timed_out for name in event.sender.split(_SEPARATOR)}
        self._state.log("run resumed", session=run.session.hex(), steps=run.position)

    def _advance_run(self, work: RunStep, now: float) -> None:
        run, state = work.run, self._state
        outputs = self._outputs(run, work)
        who = work.sender or _SEPARATOR.join(work.missing)
        data = brought_digest(work.party, run.seed) if work.party and not run.position else b""
        event = Event(run.position, work.what, who, work.sequence, outline(work.said), data)
        seen = describe_message(work.message) if work.message is not None else None
        state.hook("before commit")
        state.journal.advance(run.session, event, outputs, shown=seen, result=work.result)
        run.party, run.position, run.moved = work.party, run.position + 1, now
        run.bound = work.bound
        run.rounds += bool(outputs)
        run.lost |= set(work.missing)
        run.tried.clear()
        if work.message is not None:
            run.waiting.remove((work.sender, work.sequence))
        state.queue(run, outputs, now)
        if work.result is not None:
            self._finish_run(run)
        state.hook("before send")

    def _finish_run(self, run: Run) -> None:
        run.status, run.party, run.waiting, run.seed = "finished", None, [], b""
        run.drained = not run.unsent()
        self._state.log("run finished", session=run.session.hex(), rounds=run.rounds)

    def _outputs(self, run: Run, work: RunStep) -> list[OutgoingFrame]:
        places = {name: link.last for name, link in run.links.items()}
        outputs = []
        for message, body in zip(work.said, work.written, strict=True):
            to = message.receiver
            places[to] += 1
            outputs.append(
                OutgoingFrame(to, places[to], "message", describe_message(message), body)
            )
        return outputs

    def _fail_run(self, work: RunStep, error: BaseException, now: float) -> None:
        run, place = work.run, (work.sender, work.sequence)
        if work.what == "receive" and isinstance(error, EarlyMessageError):
            run.tried.add(place)
        elif work.what == "receive" and isinstance(error, _DROPPED):
            self._drop(work, error)
        elif work.what == "receive" and isinstance(error, _ANSWERED):
            self._drop(work, error)
            self._complain(run, work.sender, error, now)
        else:
            if not isinstance(error, SottovoceError):
                self._state.log(
                    "party failed", session=run.session.hex(), error=type(error).__name__
                )
            self._aborts.abort(run, public_error(error), now, missing=work.missing)

    def _drop(self, work: RunStep, error: BaseException) -> None:
        run = work.run
        seen = {} if work.message is None else describe_message(work.message)
        seen["refused"] = type(error).__name__
        self._state.journal.drop(run.session, work.sender, work.sequence, seen)
        run.waiting.remove((work.sender, work.sequence))
        self._state.log(
            "message refused",
            session=run.session.hex(),
            sender=work.sender,
            sequence=work.sequence,
            error=type(error).__name__,
        )

    def _complain(self, run: Run, sender: str, error: SottovoceError, now: float) -> None:
        body = pack_frame(Complaint(type(error).__name__, str(error)))
        written = OutgoingFrame(
            sender, run.links[sender].last + 1, "refusal", {"kind": "refusal"}, body
        )
        self._state.journal.write(run.session, [written])
        self._state.queue(run, [written], now)

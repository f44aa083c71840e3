"""A node's dispatcher: everything but its network and its clock. Frames in, frames out, time given.

Everything that a node decides is decided here, so that the same code runs over gRPC with threads
and, in tests, over a faulty wire on a virtual clock. Calls must not overlap, except `compute`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import (
    AbortedError,
    LostPartyError,
    ParameterError,
    SottovoceError,
    StalledError,
)
from sottovoce.federation._journal import Journal
from sottovoce.federation._node.exchange import (
    Aborts,
    MessageInbox,
    MessageOutbox,
    Policy,
    TermsWithout,
)
from sottovoce.federation._node.state import (
    NodeState,
    PartyMaker,
    ResultOf,
    Run,
    abort_error,
    ignore_point,
    new_run,
)
from sottovoce.federation._node.worker import Worker
from sottovoce.federation.roster import Roster
from sottovoce.federation.transport.frames import (
    VERSION,
    Beat,
    Log,
    OutgoingFrame,
    Proposal,
    Settings,
    State,
    pack_frame,
    to_logger,
)
from sottovoce.privacy.randomness import SEED_BYTES, system_bytes

# A party that knows nothing of a run has lost its journal, or will never agree.
_ENDED: tuple[State, ...] = ("finished", "aborted", "unknown")


class Heartbeat:
    """Notes who is busy and who is silent, and ends the wait for whoever is gone."""

    def __init__(self, state: NodeState, outbox: MessageOutbox, aborts: Aborts) -> None:
        self._state, self._outbox, self._aborts = state, outbox, aborts

    def tick(self, now: float) -> None:
        """Time out runs that have stalled, and give up on frames that nobody takes."""
        for run in list(self._state.runs.values()):  # an abort may begin another
            if run.status == "running" and now - run.begun > self._state.settings.longest_run_s:
                self._aborts.abort(run, StalledError("the run has lasted too long."), now)
            elif run.status == "running":
                self._check_silence(run, now)
            elif not run.drained:
                self._give_up(run, now)

    def beat(self, member: str, now: float) -> Beat | None:
        """What to tell a member; None while there is nothing that it takes part in."""
        states = {
            run.session: self.state_of(run, now)
            for run in self._state.runs.values()
            if run.status == "running" and member in run.links
        }
        return Beat(VERSION, self._state.name, states) if states else None

    def answer_beat(self, beat: Beat, now: float) -> Beat:
        """Note how another stands, and say how this one does."""
        self.note(beat, now)
        states: dict[bytes, State] = {}
        for session in beat.states:
            run = self._state.runs.get(session)
            states[session] = "unknown" if run is None else self.state_of(run, now)
        return Beat(VERSION, self._state.name, states)

    def note(self, beat: Beat, now: float) -> None:
        """Note how another stands."""
        for session, state in beat.states.items():
            run = self._state.runs.get(session)
            if run is None or beat.sender not in run.links:
                continue
            run.heard[beat.sender], run.states[beat.sender] = now, state
            if state == "busy":
                run.busy_heard = now

    def state_of(self, run: Run, now: float) -> State:
        """How this party stands with a run."""
        if run.status != "running":
            return "finished" if run.status == "finished" else "aborted"
        return "busy" if self._busy(run, now) else "idle"

    def _busy(self, run: Run, now: float) -> bool:
        if run.working or run.party is None or run.wants_time_out or run.ready() is not None:
            return True
        # What cannot be delivered keeps nobody busy for ever.
        patience = self._state.settings.deadline_s
        return any(link.waiting and now - link.since < patience for link in run.links.values())

    def _check_silence(self, run: Run, now: float) -> None:
        """Go on without the awaited parties, once every one of them is gone."""
        patience = self._state.settings.deadline_s
        if self._busy(run, now) or now - run.moved < patience:
            return
        expected = set(run.find_awaited()) & set(run.links) or set(run.links)
        gone = {name for name in expected if self._is_gone(run, name, now)}
        # All answer, and none is busy: the coordinator alone can break such a standstill.
        if self._state.coordinates and now - run.busy_heard >= patience:
            gone = expected
        if gone == expected:
            run.wants_time_out = tuple(sorted(gone))
            self._state.log(
                "gone on without", session=run.session.hex(), missing=",".join(sorted(gone))
            )

    def _is_gone(self, run: Run, name: str, now: float) -> bool:
        silent = now - run.heard[name] >= self._state.settings.deadline_s
        return silent or run.states.get(name) in _ENDED

    def _give_up(self, run: Run, now: float) -> None:
        for receiver, link in run.links.items():
            if link.waiting and now - link.since >= self._state.settings.give_up_s:
                self._outbox.give_up(run, receiver)
        run.drained = not run.unsent()


def accept_all(terms: bytes, proposer: str, /) -> str | None:
    """The policy of a party that takes part in whatever its coordinator proposes."""
    del terms, proposer
    return None


@dataclass(frozen=True)
class Machines:
    """What a node runs.

    Attributes:
        make: from agreed terms and this party's name to its state machine.
        result_of: what to keep of a party that has finished.
        policy: whether to take part: a sentence that says why not, or None.
        terms_without: the coordinator's, for beginning again without the lost.
    """

    make: PartyMaker
    result_of: ResultOf
    policy: Policy = accept_all
    terms_without: TermsWithout | None = None


class Dispatcher:
    """Hands frames to a party's inbox, worker, outbox and heartbeat, which share its node state."""

    def __init__(
        self,
        name: str,
        roster: Roster,
        journal: Journal,
        machines: Machines,
        *,
        now: float,
        settings: Settings | None = None,
        log: Log = to_logger,
        hook: Callable[[str], None] = ignore_point,
    ) -> None:
        self.state = NodeState(
            roster[name].name, roster, journal, settings or Settings(), log, hook
        )
        aborts = Aborts(self.state, propose=self.propose, terms_without=machines.terms_without)
        self._aborts = aborts
        self.inbox = MessageInbox(self.state, aborts, machines.policy)
        self.outbox = MessageOutbox(self.state, aborts)
        self.worker = Worker(self.state, aborts, machines.make, machines.result_of)
        self.heartbeat = Heartbeat(self.state, self.outbox, aborts)
        self.state.load(now)

    @property
    def name(self) -> str:
        """This party's name."""
        return self.state.name

    def propose(self, terms: bytes, participants: Iterable[str], now: float) -> bytes:
        """Begin a run among these participants, this one among them; its session."""
        state, names = self.state, tuple(sorted(set(participants)))
        if not state.coordinates or state.name not in names:
            raise ParameterError("only the coordinator proposes runs, and takes part in them.")
        for name in names:
            state.roster[name]
        proposal = Proposal(terms, list(names))
        session = proposal.session
        if session in state.runs:
            raise ParameterError("a run of these terms was made before; give it a fresh session.")
        seed, body = system_bytes(SEED_BYTES), pack_frame(proposal)
        run = new_run(session, names, terms, seed, state.name, now)
        outputs = [OutgoingFrame(one, 1, "propose", {"kind": "propose"}, body) for one in run.links]
        state.journal.add_run(session, terms, names, seed, outputs=outputs)
        state.runs[session] = run
        state.queue(run, outputs, now)
        state.log("run proposed", session=session.hex(), participants=len(names))
        return session

    def abort(self, session: bytes, error: SottovoceError, now: float) -> None:
        """End a run by this party's own decision, and tell all others why."""
        self._aborts.abort(self.latest(session), error, now)

    def leave_out(self, removed: Iterable[str], now: float) -> None:
        """End every run of which a party was removed from the roster."""
        gone = set(removed)
        for run in list(self.state.runs.values()):
            lost = sorted(gone & set(run.participants))
            if lost and run.status == "running":
                names = ", ".join(lost)
                error = LostPartyError(f"{names} was removed from the roster.", lost)
                self._aborts.abort(run, error, now)

    def latest(self, session: bytes) -> Run:
        """The run of that name, or the last one that took up where it ended."""
        run = self.state.runs.get(session)
        if run is None:
            raise ParameterError("there is no run of that session.")
        return run if run.followed_by is None else self.latest(run.followed_by)

    def result(self, session: bytes) -> bytes | None:
        """What a run has found; None while it runs; its AbortedError if it was ended."""
        run = self.latest(session)
        if run.status == "aborted":
            raise abort_error(run)
        return self.state.journal.result(run.session)

    def error(self, session: bytes) -> AbortedError | None:
        """How a run was ended, if it was."""
        run = self.latest(session)
        return abort_error(run) if run.status == "aborted" else None

    def status(self, now: float) -> dict[str, Any]:
        """How all runs stand, in plain values."""
        runs = [self._status_of(run, now) for run in self.state.runs.values()]
        return {"name": self.name, "role": self.state.roster[self.name].role, "runs": runs}

    def _status_of(self, run: Run, now: float) -> dict[str, Any]:
        rows = self.state.journal.transcript(run.session, self.name)
        sent = sum(row["bytes"] for row in rows if row["sender"] == self.name)
        return {
            "session": run.session.hex(),
            "status": run.status,
            "participants": list(run.participants),
            "step": run.position,
            "stage": getattr(run.party, "stage", ""),
            "doing": self.heartbeat.state_of(run, now),
            "waiting_for": list(run.find_awaited()),
            "lost": sorted(run.lost),
            "unsent_to": sorted(name for name, link in run.links.items() if link.waiting),
            "silent_s": {name: round(now - at, 1) for name, at in run.heard.items()},
            "bytes_sent": sent,
            "bytes_received": sum(row["bytes"] for row in rows) - sent,
            "messages": len(rows),
            "rounds": run.rounds,
            "ended": dict(run.ended),
            "followed_by": run.followed_by.hex() if run.followed_by else None,
        }

    def transcript(self, session: bytes) -> list[dict[str, Any]]:
        """Every frame that this party sent and got in a run, without any value."""
        return self.state.journal.transcript(session, self.name)

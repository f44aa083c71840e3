"""Who is still there: every party sends beats, and one that stays silent is lost in the end.

A party that works is waited for, however long it takes. The coordinator gives a party up when it
has been silent for the deadline, or when nobody at all has had anything to do for as long; the
others give up only those who are silent or have ended the run.
"""

from sottovoce.errors import StalledError
from sottovoce.federation._node.aborts import Aborts
from sottovoce.federation._node.outbox import MessageOutbox
from sottovoce.federation._node.state import NodeState, Run
from sottovoce.federation.transport.frames import VERSION, Beat, State

# A party that knows nothing of a run has lost its journal, or will never agree.
_ENDED: tuple[State, ...] = ("finished", "aborted", "unknown")


class Heartbeat:
    """Tells the silent from the slow."""

    def __init__(self, state: NodeState, outbox: MessageOutbox, aborts: Aborts) -> None:
        self._state, self._outbox, self._aborts = state, outbox, aborts

    def tick(self, now: float) -> None:
        """Look at every run; those that wait in vain get to time out."""
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

    def heard(self, beat: Beat, now: float) -> Beat:
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
        patience = self._state.settings.deadline_s
        if self._busy(run, now) or now - run.moved < patience:
            return
        expected = set(run.awaited()) & set(run.links) or set(run.links)
        gone = {name for name in expected if self._gone(run, name, now)}
        if self._state.coordinates and now - run.busy_heard >= patience:
            gone = expected
        if gone == expected:
            run.wants_time_out = tuple(sorted(gone))
            self._state.log(
                "gone on without", session=run.session.hex(), missing=",".join(sorted(gone))
            )

    def _gone(self, run: Run, name: str, now: float) -> bool:
        silent = now - run.heard[name] >= self._state.settings.deadline_s
        return silent or run.states.get(name) in _ENDED

    def _give_up(self, run: Run, now: float) -> None:
        for receiver, link in run.links.items():
            if link.waiting and now - link.since >= self._state.settings.give_up_s:
                self._outbox.give_up(run, receiver)
        run.drained = not run.unsent()

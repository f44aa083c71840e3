"""A federation in one thread: the nodes' dispatchers, on a virtual clock and a wire with faults.

The wire is as TLS leaves it: what is damaged in a header or an answer is lost, since the record
does not authenticate; a flipped bit of a body is let through, so that its digest must find it.
"""

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sottovoce.federation._journal import Journal
from sottovoce.federation._node.dispatcher import Dispatcher, Machines
from sottovoce.federation.transport.frames import (
    Answer,
    Frame,
    Header,
    Settings,
    pack_frame,
    unpack_frame,
)
from sottovoce.learn.training_terms import COORDINATOR
from support.federations import JOURNAL_KEY, bare_roster

SETTINGS = Settings(deadline_s=10.0, beat_s=1.0, call_s=0.5, give_up_s=20.0)
_LIMIT_S = 120.0


class Crashed(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Crash:
    """Where a party's process ends: the ``turn``-th time that it reaches a point.

    ``again_s`` later it is started again; never, if that is None.
    """

    name: str
    point: str
    turn: int
    again_s: float | None = 1.0


@dataclass(frozen=True)
class Faults:
    """Chances per frame and per answer, from a seed."""

    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    flip: float = 0.0
    seed: int = 0


@dataclass
class Outcome:
    """What a run came to: each party's result or the name of its error."""

    ends: dict[str, bytes | str]
    lasted_s: float
    reached: Counter[tuple[str, str]]
    dispatchers: dict[str, Dispatcher | None] = field(repr=False)


class Rehearsal:
    """Runs dispatchers until every living party has ended, and says what came of it."""

    def __init__(
        self,
        names: Iterable[str],
        machines: Machines,
        *,
        faults: Faults | None = None,
        crashes: Iterable[Crash] = (),
        settings: Settings = SETTINGS,
    ) -> None:
        self.names = tuple(names)
        self.roster = bare_roster(self.names)
        self.machines, self.settings = machines, settings
        self.now = 0.0
        self.reached: Counter[tuple[str, str]] = Counter()
        self.events: list[tuple[str, dict[str, object]]] = []
        self._faults = faults or Faults()
        self._chance = np.random.default_rng(self._faults.seed)
        self._crashes = list(crashes)
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._lost: set[str] = set()
        self.journals = {
            name: Journal(None, JOURNAL_KEY, wall=lambda: self.now) for name in self.names
        }
        self.dispatchers: dict[str, Dispatcher | None] = dict.fromkeys(self.names)
        for name in self.names:
            self._boot(name)

    def run(
        self, proposer: str, terms: bytes, participants: Iterable[str] | None = None
    ) -> Outcome:
        """Propose a run and see it end."""
        session = self._proposed(proposer, terms, participants or self.names)
        while not self._ended(session):
            if not self._heap or self.now > _LIMIT_S:
                waiting = {n: d and d.status(self.now)["runs"] for n, d in self.dispatchers.items()}
                raise AssertionError(f"no end after {self.now} s: {waiting}")
            self.now, _, action = heapq.heappop(self._heap)
            action()
        ends = {name: self._end(name, session) for name in self.names if name not in self._lost}
        return Outcome(ends, self.now, self.reached, self.dispatchers)

    def _proposed(self, proposer: str, terms: bytes, participants: Iterable[str]) -> bytes:
        sessions: list[bytes] = []

        def propose(dispatcher: Dispatcher) -> None:
            sessions.append(dispatcher.propose(terms, participants, self.now))

        self._act(proposer, propose)
        return sessions[0]

    def _boot(self, name: str) -> None:
        self.dispatchers[name] = Dispatcher(
            name,
            self.roster,
            self.journals[name],
            self.machines,
            now=self.now,
            settings=self.settings,
            log=lambda event, /, **fields: self.events.append((event, fields)),
            hook=lambda point, /: self._hook(name, point),
        )
        self._beating(name, self.dispatchers[name])
        self._act(name, lambda _: None)

    def _hook(self, name: str, point: str) -> None:
        self.reached[name, point] += 1
        for crash in self._crashes:
            if (crash.name, crash.point) == (name, point) and crash.turn == self.reached[
                name, point
            ]:
                self._crashes.remove(crash)
                self._fall(crash)

    def _fall(self, crash: Crash) -> None:
        self.dispatchers[crash.name] = None
        if crash.again_s is None:
            self._lost.add(crash.name)
        else:
            self._later(crash.again_s, lambda: self._boot(crash.name))
        raise Crashed

    def _act(self, name: str, action: Callable[[Dispatcher], Any]) -> Any:  # noqa: ANN401 - whatever it gives
        """Let a living party do something, and then whatever follows from it."""
        dispatcher = self.dispatchers[name]
        if dispatcher is None:
            return None
        try:
            given = action(dispatcher)
        except Crashed:
            return None
        self._later(0.001, lambda: self._pump(name, dispatcher))
        return given

    def _pump(self, name: str, dispatcher: Dispatcher) -> None:
        if self.dispatchers[name] is not dispatcher:
            return
        try:
            while (work := dispatcher.worker.next_work()) is not None:
                dispatcher.worker.compute(work)
                dispatcher.worker.keep(work, self.now)
            for other in self.names:
                self._send_due(dispatcher, other)
        except Crashed:
            pass

    def _send_due(self, dispatcher: Dispatcher, other: str) -> None:
        while (frame := dispatcher.outbox.due(other, self.now)) is not None:
            self._send(dispatcher, frame)
        due = dispatcher.outbox.next_due(other)
        if due is not None:
            self._later(max(due - self.now, 0.001), lambda: self._pump(dispatcher.name, dispatcher))

    def _send(self, dispatcher: Dispatcher, frame: Frame) -> None:
        answered = [False]

        def settle(answer: Answer | None) -> None:
            if not answered[0] and self.dispatchers[dispatcher.name] is dispatcher:
                answered[0] = True
                self._act(dispatcher.name, lambda d: d.outbox.settle(frame, answer, self.now))

        for copy in self._copies(frame):
            self._later(self._delay(), lambda copy=copy: self._arrive(copy, settle))  # type: ignore[misc] # bound at once
        self._later(self.settings.call_s, lambda: settle(None))

    def _arrive(self, frame: Frame, settle: Callable[[Answer | None], None]) -> None:
        receiver = frame.header.receiver

        def take(dispatcher: Dispatcher) -> Answer:
            early = dispatcher.inbox.admit(frame.header)
            return dispatcher.inbox.take(frame, self.now) if early is None else early

        answer = self._act(receiver, take)
        lost = (
            answer is None or self._happens(self._faults.drop) or self._happens(self._faults.flip)
        )
        if not lost:
            self._later(self._delay(), lambda: settle(answer))

    def _copies(self, frame: Frame) -> list[Frame]:
        if self._happens(self._faults.drop):
            return []
        header = unpack_frame(pack_frame(frame.header), Header)
        sent = Frame(header, frame.body)
        if self._happens(self._faults.flip):
            bit = int(self._chance.integers(8 * (len(frame.body) + len(pack_frame(header)))))
            if bit >= 8 * len(frame.body):
                return []
            damaged = bytearray(frame.body)
            damaged[bit // 8] ^= 1 << (bit % 8)
            sent = Frame(header, bytes(damaged))
        return [sent, sent] if self._happens(self._faults.duplicate) else [sent]

    def _beating(self, name: str, dispatcher: Dispatcher | None) -> None:
        if dispatcher is None or self.dispatchers[name] is not dispatcher:
            return
        self._act(name, lambda d: d.heartbeat.tick(self.now))
        for other in self.names:
            if other != name and not self._happens(self._faults.drop):
                self._beat(dispatcher, other)
        self._later(self.settings.beat_s, lambda: self._beating(name, dispatcher))

    def _beat(self, dispatcher: Dispatcher, other: str) -> None:
        beat, receiver = dispatcher.heartbeat.beat(other, self.now), self.dispatchers[other]
        if beat is not None and receiver is not None:
            dispatcher.heartbeat.note(receiver.heartbeat.answer_beat(beat, self.now), self.now)

    def _delay(self) -> float:
        delay = float(self._chance.uniform(0.001, 0.005))
        return delay + 0.2 if self._happens(self._faults.reorder) else delay

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._chance.random() < chance

    def _later(self, wait: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (self.now + wait, next(self._order), action))

    def _ended(self, session: bytes) -> bool:
        for name in self.names:
            dispatcher = self.dispatchers[name]
            if name in self._lost:
                continue
            if dispatcher is None or not self._over(dispatcher, session):
                return False
        return True

    def _over(self, dispatcher: Dispatcher, session: bytes) -> bool:
        # Who never heard of a run that was ended has nothing to end.
        coordinator = self.dispatchers[self.names[0]]
        if session not in dispatcher.state.runs:
            run = coordinator.latest(session) if coordinator else None
            return run is not None and run.status != "running" and run.drained
        return all(run.status != "running" for run in dispatcher.state.runs.values())

    def _end(self, name: str, session: bytes) -> bytes | str:
        dispatcher = self.dispatchers[name]
        assert dispatcher is not None
        if session not in dispatcher.state.runs:
            return "never heard of it"
        runs = list(dispatcher.state.runs.values())
        if runs[-1].status == "aborted":
            return str(runs[-1].ended["error"])
        return self.journals[name].result(runs[-1].session) or b""


def rehearse(
    toy: Any,  # noqa: ANN401 - any of `federations`
    *crashes: Crash,
    faults: Faults | None = None,
    settings: Settings = SETTINGS,
    machines: Machines | None = None,
) -> tuple[Rehearsal, Outcome]:
    """See a toy's run from its proposal to its end."""
    without = getattr(toy, "without", None)
    machines = machines or Machines(toy.made, toy.result, terms_without=without)
    rehearsal = Rehearsal(toy.names, machines, faults=faults, crashes=crashes, settings=settings)
    return rehearsal, rehearsal.run(COORDINATOR, toy.terms())


def changed(settings: Settings = SETTINGS, **options: Any) -> Settings:  # noqa: ANN401 - of Settings
    """Settings of a rehearsal with some of them changed."""
    return replace(settings, **options)

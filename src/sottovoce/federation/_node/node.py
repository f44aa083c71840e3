"""A party as a process: a dispatcher that gRPC carries frames for and threads call.

One thread computes steps, one keeps the heartbeat, and one a member sends frames; gRPC's own take
what comes in. All of them hold one lock, except while they compute or send.
"""

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.federation._journal import Journal
from sottovoce.federation._node.dispatcher import Dispatcher, Machines
from sottovoce.federation._node.state import ignore_point, public_error
from sottovoce.federation.certificates import Credentials
from sottovoce.federation.roster import Member, Roster
from sottovoce.federation.transport.calls import Answering, MessageClient, MessageServer
from sottovoce.federation.transport.frames import (
    Answer,
    Beat,
    Frame,
    Header,
    Log,
    Settings,
    to_logger,
)

_IDLE_S = 0.5
_Found = TypeVar("_Found")


class Node:
    """One party of a federation.

    Args:
        name: this party, as the roster has it.
        roster: everybody.
        credentials: what this party proves itself by.
        journal: the file of its journal.
        journal_key: 32 bytes that seal the journal.
        machines: what it runs.
        settings: its patience and limits.
        log: where events go; the logger ``sottovoce.federation`` by default.
        counted: told how often the journal was added to, each time before anything is sent.
        hook: for tests, called at named points of a step.
    """

    def __init__(
        self,
        name: str,
        roster: Roster,
        credentials: Credentials,
        *,
        journal: Path,
        journal_key: bytes,
        machines: Machines,
        settings: Settings | None = None,
        log: Log = to_logger,
        counted: Callable[[int], None] | None = None,
        hook: Callable[[str], None] = ignore_point,
    ) -> None:
        self.settings = settings or Settings()
        self._changed = threading.Condition()
        self._stopping = False
        self._failure: SottovoceError | None = None
        self._log, self._credentials, self._roster = log, credentials, roster
        self._journal = Journal(journal, journal_key, counted=counted)
        self._dispatcher = Dispatcher(
            name,
            roster,
            self._journal,
            machines,
            now=time.monotonic(),
            settings=self.settings,
            log=log,
            hook=hook,
        )
        self.server = MessageServer(
            roster,
            admit=self._admit,
            take=self._take,
            heard=self._hear_beat,
            settings=self.settings,
            log=log,
        )
        self._clients = {
            member.name: self._client(member) for member in roster if member.name != name
        }
        # Members to whom beats are due: `_send` opens their lines, which a beat never does itself.
        self._wanted: set[str] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """This party's name."""
        return self._dispatcher.name

    def start(self, address: str | None = None) -> str:
        """Listen and work; the address it listens at."""
        bound = self.server.open(address or self._roster[self.name].address, self._credentials)
        self._spawn("worker", self._work)
        self._spawn("heartbeat", self._keep_heartbeat)
        for member in self._clients:
            self._spawn_client(member)
        return bound

    def close(self) -> None:
        """Stop; everything that matters is in the journal."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self.server.close()
        for client in list(self._clients.values()):
            client.close()
        for thread in self._threads:
            thread.join()
        self._journal.close()

    def take_roster(self, roster: Roster) -> None:
        """Know these parties from now on; runs with somebody who is not on it any more end.

        Whoever has another certificate than before is connected to again.
        """
        with self._changed:
            before, self._roster = self._roster, roster
            self._dispatcher.state.roster = roster
            self.server.take_roster(roster)
            kept = {each.name for each in roster if each in before.members}
            gone = {name: client for name, client in self._clients.items() if name not in kept}
            for name in gone:
                del self._clients[name]
            fresh = [each for each in roster if each.name not in kept and each.name != self.name]
            for member in fresh:
                self._clients[member.name] = self._client(member)
            removed = {each.name for each in before} - set(roster.names)
            self._dispatcher.leave_out(removed, time.monotonic())
            self._changed.notify_all()
        for client in gone.values():
            client.close()
        if self._threads and not self._stopping:
            for member in fresh:
                self._spawn_client(member.name)

    def _client(self, member: Member) -> MessageClient:
        return MessageClient(member, self._credentials, self.settings, self._log)

    def _spawn_client(self, member: str) -> None:
        self._spawn(f"client of {member}", partial(self._send, member, self._clients[member]))

    def offer(self, method: str, answering: Answering) -> None:
        """Answer one more method of other parties; before `start` only."""
        self.server.offer(method, answering)

    def ask(self, member: str, method: str, request: bytes, timeout_s: float) -> bytes:
        """What a member answers to a method that it offers."""
        client = self._clients.get(member)
        if client is None:
            raise ParameterError(f"the roster has no other party {member!r}.")
        return client.call(method, request, timeout_s)

    def offer_to_any(self, method: str, answering: Callable[[bytes], bytes]) -> None:
        """As `offer`, to whoever has a certificate of the authority; before `start` only."""
        self.server.offer_to_any(method, answering)

    def ask_once(self, member: Member, method: str, request: bytes, timeout_s: float) -> bytes:
        """What a party answers that need not be on the roster."""
        client = self._client(member)
        try:
            return client.call(method, request, timeout_s)
        finally:
            client.close()

    def read_journal(self, reading: Callable[[Journal], _Found]) -> _Found:
        """What ``reading`` finds in the journal while nobody writes it."""
        with self._changed:
            return reading(self._journal)

    def propose(self, terms: bytes, participants: Iterable[str] | None = None) -> bytes:
        """Begin a run (coordinator only), among all by default; its session."""
        names = self._roster.names if participants is None else participants
        with self._changed:
            session = self._dispatcher.propose(terms, names, time.monotonic())
            self._changed.notify_all()
        return session

    def wait(self, session: bytes, timeout_s: float | None = None) -> bytes | None:
        """The result of a run, once all it has to say was heard; None if that takes too long.

        Raises the run's AbortedError if it was ended.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_over(session), timeout_s)
            self._check_failure()
            run = self._dispatcher.latest(session)
            # Whoever is lost cannot hear; the living hear within a beat or two.
            grace = 2 * self.settings.beat_s if run.status == "aborted" else timeout_s
            self._changed.wait_for(lambda: self._is_drained(session), grace)
            return self._dispatcher.result(session)

    def wait_for_run(
        self, known: Iterable[bytes] = (), timeout_s: float | None = None
    ) -> bytes | None:
        """The session of a run that is not among ``known``, once there is one."""
        seen = set(known)

        def fresh() -> bytes | None:
            return next((each for each in self._dispatcher.state.runs if each not in seen), None)

        with self._changed:
            self._changed.wait_for(lambda: fresh() or self._stopping, timeout_s)
            return fresh()

    def abort(self, session: bytes, error: SottovoceError) -> None:
        """End a run by this party's own decision."""
        with self._changed:
            self._dispatcher.abort(session, error, time.monotonic())
            self._changed.notify_all()

    def abort_all(self, error: SottovoceError) -> None:
        """End every run that is under way."""
        running = [run for run in self.status()["runs"] if run["status"] == "running"]
        for run in running:
            self.abort(bytes.fromhex(run["session"]), error)

    def status(self) -> dict[str, Any]:
        """How all runs stand: status, step, who is waited for, bytes, rounds."""
        with self._changed:
            return self._dispatcher.status(time.monotonic())

    def transcript(self, session: bytes) -> list[dict[str, Any]]:
        """Every message of a run: sender, receiver, step, kind, bytes, time, fields; no values."""
        with self._changed:
            return self._dispatcher.transcript(session)

    def _is_over(self, session: bytes) -> bool:
        return self._stopping or self._dispatcher.latest(session).status != "running"

    def _is_drained(self, session: bytes) -> bool:
        return self._stopping or self._dispatcher.latest(session).drained

    def _check_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _spawn(self, what: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._guard_thread, args=(target,), name=what, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guard_thread(self, target: Callable[[], None]) -> None:
        # A party that cannot write its journal, or has a defect, must say nothing more: then the
        # others find it silent, and do not wait for it.
        try:
            target()
        except Exception as error:  # noqa: BLE001 - whatever it is, the node is not well
            with self._changed:
                self._failure, self._stopping = public_error(error), True
                self._changed.notify_all()
            self._log("node failed", error=type(error).__name__)

    def _admit(self, header: Header) -> Answer | None:
        with self._changed:
            self._check_failure()
            return self._dispatcher.inbox.admit(header)

    def _take(self, frame: Frame) -> Answer:
        with self._changed:
            self._check_failure()
            answer = self._dispatcher.inbox.take(frame, time.monotonic())
            self._changed.notify_all()
        return answer

    def _hear_beat(self, beat: Beat) -> Beat:
        with self._changed:
            self._check_failure()
            return self._dispatcher.heartbeat.answer_beat(beat, time.monotonic())

    def _note_beat(self, beat: Beat) -> None:
        with self._changed:
            if not self._stopping:
                self._dispatcher.heartbeat.note(beat, time.monotonic())

    def _work(self) -> None:
        worker = self._dispatcher.worker
        while not self._stopping:
            with self._changed:
                work = worker.next_work()
                if work is None:
                    self._changed.wait(_IDLE_S)
                    continue
            worker.compute(work)
            with self._changed:
                if not self._stopping:
                    worker.keep(work, time.monotonic())
                    self._changed.notify_all()

    def _send(self, member: str, client: MessageClient) -> None:
        outbox = self._dispatcher.outbox
        while not self._stopping and self._clients.get(member) is client:
            with self._changed:
                now = time.monotonic()
                frame = outbox.due(member, now)
                if frame is None:
                    self._changed.wait(self._pause(outbox.next_due(member), now))
            if member in self._wanted and not client.is_connected:
                client.connect()
            if frame is not None:
                answer = client.deliver(frame)
                with self._changed:
                    if not self._stopping:
                        outbox.settle(frame, answer, time.monotonic())
                        self._changed.notify_all()

    def _pause(self, due: float | None, now: float) -> float:
        return _IDLE_S if due is None else min(_IDLE_S, max(due - now, 0.001))

    def _keep_heartbeat(self) -> None:
        while not self._stopping:
            beats = []
            with self._changed:
                now = time.monotonic()
                self._dispatcher.heartbeat.tick(now)
                clients = dict(self._clients)
                for member in clients:
                    beat = self._dispatcher.heartbeat.beat(member, now)
                    if beat is not None:
                        beats.append((member, beat))
                self._wanted = {member for member, _ in beats}
                self._changed.notify_all()
            for member, beat in beats:
                clients[member].beat(beat, self._note_beat)
            with self._changed:
                self._changed.wait_for(lambda: self._stopping, self.settings.beat_s)

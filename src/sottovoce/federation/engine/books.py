"""What all parts of a node share: who it is, its runs, its journal and where it logs."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sottovoce.errors import SottovoceError
from sottovoce.federation.engine.run import Link, Run
from sottovoce.federation.journal.journal import Journal, Kept, Written
from sottovoce.federation.transport.refusals import RunAbortedError
from sottovoce.federation.transport.roster import Roster
from sottovoce.federation.transport.settings import Settings

LOGGER = logging.getLogger("sottovoce.federation")


class Log(Protocol):
    """Where events go: a name and fields, never content."""

    def __call__(self, event: str, /, **fields: object) -> None:
        """Note one event."""


def to_logger(event: str, /, **fields: object) -> None:
    """An event as a record of the logger ``sottovoce.federation``; its fields are in ``fields``."""
    details = " ".join(f"{name}={value}" for name, value in fields.items())
    LOGGER.info("%s %s", event, details, extra={"event": event, "fields": fields})


def no_hook(point: str, /) -> None:
    """Tests crash a party at named points; nobody else does."""
    del point


@dataclass
class Books:
    """A node's state; whoever holds its lock may change it."""

    name: str
    roster: Roster
    journal: Journal
    settings: Settings
    log: Log = to_logger
    hook: Callable[[str], None] = no_hook
    runs: dict[bytes, Run] = field(default_factory=dict)

    @property
    def coordinates(self) -> bool:
        """Whether this party is the coordinator."""
        return self.roster[self.name].role == "coordinator"

    def load(self, now: float) -> None:
        """All runs of the journal; those under way are rebuilt by the next work."""
        for session in self.journal.sessions():
            kept = self.journal.run(session)
            if kept is not None:
                self.runs[session] = self._loaded(kept, now)

    def _loaded(self, kept: Kept, now: float) -> Run:
        run = new_run(kept.session, kept.participants, kept.terms, kept.seed, self.name, now)
        run.status, run.ended, run.followed_by = kept.status, kept.ended, kept.followed_by
        run.last_in = self.journal.last_in(kept.session)
        if kept.status == "running":
            run.waiting = self.journal.held(kept.session)
        for receiver, last in self.journal.last_out(kept.session).items():
            run.links[receiver].last = last
        for receiver, sequence in self.journal.unsent(kept.session):
            run.links[receiver].waiting.append(sequence)
        run.drained = run.status != "running" and not run.unsent()
        return run

    def queue(self, run: Run, outputs: Iterable[Written], now: float) -> None:
        """Let what is journalled be sent."""
        for receiver, sequence, *_ in outputs:
            link = run.links[receiver]
            if not link.waiting:
                link.since = link.due = now
                link.failures = 0
            link.waiting.append(sequence)
            link.last = max(link.last, sequence)


def new_run(
    session: bytes, participants: Iterable[str], terms: bytes, seed: bytes, own: str, now: float
) -> Run:
    """A run of which nothing has happened yet."""
    run = Run(session, tuple(participants), terms, seed, begun=now, moved=now, busy_heard=now)
    for other in run.others(own):
        run.links[other] = Link(since=now, due=now)
        run.heard[other] = now
    return run


def ended_as(error: SottovoceError, by: str, missing: Iterable[str] = ()) -> dict[str, Any]:
    """How a run ended, as it is kept and told."""
    return {
        "by": by,
        "error": type(error).__name__,
        "sentence": str(error),
        "missing": sorted(missing),
    }


def abort_error(run: Run) -> RunAbortedError:
    """The error of an aborted run."""
    ended = run.ended
    return RunAbortedError(
        f"{ended['by']} has ended the run: {ended['error']}: {ended['sentence']}",
        by=ended["by"],
        error=ended["error"],
        missing=ended["missing"],
    )

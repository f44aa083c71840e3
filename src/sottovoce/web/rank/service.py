"""What a rank server does with reports, apart from HTTP, and what it says of itself.

One thread owns the store: many reports share one commit, and so one wait for the disk. A report is
acknowledged only after the commit that holds it. While one commit waits for the disk the next
reports pile up, and all of them go into the next: the busier, the larger the batches.

Whoever runs a server is told numbers and events, never who or what. An event is one line of JSON: a
time, a name and numbers about a topic and period. Nothing is said of one report, and of a period's
reports nothing before its histogram is published. Counters and latencies are for Prometheus, in its
text format; they too are of all requests together, without an address. How many reports arrived is
told by them at any time, so only the operator may ask.
"""

import hashlib
import json
import queue
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.errors import BusyError, ProtocolError
from sottovoce.parsing import parse_json
from sottovoce.web.rank.store import HISTOGRAM, ReportOutcome, Store, StoredReport

Result = TypeVar("Result")
_Task: TypeAlias = Callable[[Store], Any]
_Job: TypeAlias = tuple[StoredReport | _Task, "Future[Any]"]

Clock = Callable[[], float]
MOST_LISTED = 100
PUBLISHED = "histogram published"
MOST_WAITING = 20_000
_MOST_AT_ONCE = 1000


COUNTERS = {
    "stored": "Reports that were stored.",
    "verified": "Reports that this server found valid.",
    "refused": "Reports that this server found invalid.",
    "dropped": "Reports left out because the two servers disagreed about them.",
}
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
OTHER = "other"
_PREFIX = "sottovoce_rank"


class Telemetry:
    """Counts, and tells events to ``write``, a line each; it is silent by default."""

    def __init__(
        self, write: Callable[[str], None] | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._answers: Counter[tuple[str, int]] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of `COUNTERS`."""
        with self._lock:
            self._counts[name] += number

    def value_of(self, name: str) -> int:
        """What one of `COUNTERS` stands at."""
        with self._lock:
            return self._counts[name]

    def note_answer(self, route: str, status: int, seconds: float) -> None:
        """Note how a request was answered, and how long it took."""
        with self._lock:
            self._answers[route, status] += 1
            self._seconds[route] += seconds
            for bound in BOUNDS_S:
                if seconds <= bound:
                    self._within[route, bound] += 1

    def tell(self, event: str, **facts: int | str) -> None:
        """Say that something happened."""
        if self._write is not None:
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
            self._write(json.dumps({"time": at, "event": event} | facts))

    def metrics(self) -> str:
        """Everything that was counted, in the text format of Prometheus."""
        with self._lock:
            return "\n".join([*self._report_lines(), *self._request_lines()]) + "\n"

    def _report_lines(self) -> Iterator[str]:
        for name, meaning in COUNTERS.items():
            full = f"{_PREFIX}_reports_{name}_total"
            yield from (f"# HELP {full} {meaning}", f"# TYPE {full} counter")
            yield f"{full} {self._counts[name]}"

    def _request_lines(self) -> Iterator[str]:
        full = f"{_PREFIX}_requests_total"
        yield from (f"# HELP {full} Requests that were answered.", f"# TYPE {full} counter")
        for (route, status), number in sorted(self._answers.items()):
            yield f'{full}{{route="{route}",status="{status}"}} {number}'
        full = f"{_PREFIX}_request_seconds"
        yield from (f"# HELP {full} How long answers took.", f"# TYPE {full} histogram")
        for route, seconds in sorted(self._seconds.items()):
            everything = sum(n for (each, _), n in self._answers.items() if each == route)
            for bound in BOUNDS_S:
                yield f'{full}_bucket{{route="{route}",le="{bound}"}} {self._within[route, bound]}'
            yield f'{full}_bucket{{route="{route}",le="+Inf"}} {everything}'
            yield f'{full}_sum{{route="{route}"}} {seconds:.6f}'
            yield f'{full}_count{{route="{route}"}} {everything}'


class GroupWriter:
    """Runs everything that touches ``store``, in order, on a thread of its own."""

    def __init__(self, store: Store, *, most_waiting: int = MOST_WAITING) -> None:
        self._store = store
        self._jobs: queue.Queue[_Job | None] = queue.Queue(most_waiting)
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="rank store", daemon=True)
        self._thread.start()

    def keep(self, report: StoredReport) -> "Future[ReportOutcome]":
        """Store ``report`` together with whatever else arrives; done when it is durable."""
        return self._enqueue(report)

    def run(self, task: Callable[[Store], Result]) -> "Future[Result]":
        """Run ``task`` on the store, after everything that was asked before."""
        return self._enqueue(task)

    def close(self) -> None:
        """Finish what was asked, then close the store; nothing more is taken."""
        if not self._is_closed:
            self._is_closed = True
            self._jobs.put(None)
        self._thread.join()

    def _enqueue(self, job: StoredReport | _Task) -> "Future[Any]":
        done: Future[Any] = Future()
        if self._is_closed:
            raise BusyError("the server is stopping; send it again later.")
        try:
            self._jobs.put_nowait((job, done))
        except queue.Full:
            raise BusyError("too many reports wait to be stored; send it again later.") from None
        return done

    def _work(self) -> None:
        stopped = False
        while not stopped:
            batch, stopped = self._next_batch()
            reports: list[tuple[StoredReport, Future[Any]]] = []
            for job, done in batch:
                # Whoever gave up waiting cannot be told; from here on nobody can give up.
                if not done.set_running_or_notify_cancel():
                    continue
                if isinstance(job, StoredReport):
                    reports.append((job, done))
                    continue
                self._store_all(reports)
                reports = []
                self._run_task(job, done)
            self._store_all(reports)
        self._store.close()

    def _next_batch(self) -> tuple[list[_Job], bool]:
        """Everything that waits, at least one; and whether the end was among it."""
        batch: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == _MOST_AT_ONCE:
                return batch, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _run_task(self, task: _Task, done: "Future[Any]") -> None:
        _settle([done], lambda: [task(self._store)])

    def _store_all(self, reports: list[tuple[StoredReport, "Future[Any]"]]) -> None:
        if reports:
            _settle(
                [done for _, done in reports],
                lambda: self._store.add([report for report, _ in reports]),
            )


def _settle(waiting: list["Future[Any]"], work: Callable[[], list[Any]]) -> None:
    """Give each of ``waiting`` its result, or all of them the error."""
    try:
        results = work()
    except Exception as error:  # noqa: BLE001 - whoever waits gets it
        for done in waiting:
            done.set_exception(error)
    else:
        for done, result in zip(waiting, results, strict=True):
            done.set_result(result)


class UntilStopped:
    """Runs what waits for the other server on threads that a stopping server does not wait for.

    The other server may take as long as a request may, and Python ends only when all of its threads
    have, but for those of this kind.
    """

    def __init__(self) -> None:
        self._waiting: set[Future[object]] = set()
        self._stopped = False

    def run(self, work: Callable[[], Result], patience_s: float | None = None) -> Result:
        """What ``work`` gives; a `ProtocolError` as soon as the server is told to stop.

        A `TimeoutError` after ``patience_s``; what was begun goes on.
        """
        done: Future[Result] = Future()
        self._waiting.add(done)  # type: ignore[arg-type] # of any result
        if self._stopped:
            self.stop()
        threading.Thread(target=_settle_one, args=(done, work), daemon=True).start()
        try:
            return done.result(patience_s)
        finally:
            self._waiting.discard(done)

    def stop(self) -> None:
        """Let nobody wait any more."""
        self._stopped = True
        for done in tuple(self._waiting):
            with suppress(InvalidStateError):
                done.set_exception(ProtocolError("the server is stopping; ask again later."))


def _settle_one(done: "Future[Result]", work: Callable[[], Result]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it
        with suppress(InvalidStateError):
            done.set_exception(error)
    else:
        with suppress(InvalidStateError):
            done.set_result(result)


class RankService:
    """One rank server of the noise mode, or what both modes share."""

    def __init__(
        self,
        description: Description,
        store: Store,
        *,
        key: str = "",
        place: str = "",
        clock: Clock = time.time,
    ) -> None:
        store.bind(description.version, key, place)
        self.counts_from = store.counts_from()
        """The first period that is counted: a store that was put back leaves out earlier ones."""
        self.description = description
        self.telemetry = Telemetry()
        self.admission: Admission | None = None
        """Whom it takes reports of; everybody by default."""
        self.writer = GroupWriter(store)
        self._clock = clock

    @property
    def period(self) -> int:
        """The number of the period that runs."""
        return self.description.period_at(self._clock())

    def use_store(self, task: Callable[[Store], Result]) -> Result:
        """What ``task`` gives, run on the store in its turn."""
        return self.writer.run(task).result()

    def describe(self) -> dict[str, Any]:
        """The description, its version, the running period and when it ends."""
        ends = (self.period + 1) * self.description.period_s
        state = {"version": self.description.version, "period": self.period, "ends": ends}
        return self.description.record() | state

    def keep(
        self, topic: str, period: int, token: str, payload: bytes, member: str = ""
    ) -> "Future[ReportOutcome]":
        """Store a report; done when it is durable."""
        return self.writer.keep(StoredReport(topic, period, token, payload, member))

    def periods(self, topic: str) -> list[int]:
        """The latest periods with a histogram, those that fall due now included."""
        with suppress(ProtocolError):
            self._soon(self.publish_due)
        return self.use_store(lambda store: store.list_periods(topic, MOST_LISTED))

    def histogram(self, topic: str, period: int) -> dict[str, Any] | None:
        """The histogram of a period that is over, published at this moment if it was not."""
        if period >= self.period:
            return None
        record = self.use_store(lambda store: store.find(HISTOGRAM, topic, period))
        return parse_record(record) if record else self._soon(lambda: self.publish(topic, period))

    def _soon(self, work: Callable[[], Result]) -> Result:
        """Do what somebody waits for who asked for a histogram."""
        return work()

    def publish_due(self) -> None:
        """Publish every period that is over and has reports.

        One that cannot be opened must not hold up the others; it is told at the end.
        """
        refused: ProtocolError | None = None
        topics, now = tuple(self.description.by_name), self.period
        for topic, period in self.use_store(lambda store: store.list_due(topics, now)):
            try:
                self.publish(topic, period)
            except ProtocolError as error:
                refused = error
        if refused is not None:
            raise refused

    def publish(self, topic: str, period: int) -> dict[str, Any] | None:
        """Work out and publish a histogram; None where nobody reported."""
        return self.use_store(lambda store: self._publish_noised(store, topic, period))

    def put_back(self) -> None:
        """Say that the store is a copy that was put back; what has begun is not counted here.

        A sum that was opened before would be opened again under new noise, for which nobody paid.
        """
        after = self.period + 1
        self.counts_from = self.use_store(lambda store: store.put_back(after))
        self.telemetry.tell("store put back", counts_from=self.counts_from)

    def close(self) -> None:
        """Finish what was asked, and close the store."""
        self.writer.close()

    def _publish_noised(self, store: Store, topic: str, period: int) -> dict[str, Any] | None:
        """Read, sum and publish in one go: the store's thread lets no report in between."""
        earlier = store.find(HISTOGRAM, topic, period)
        if earlier:
            return parse_record(earlier)
        payloads = store.list_payloads(topic, period).values()
        if not payloads:
            return None
        entries = np.frombuffer(b"".join(payloads), dtype=np.int8).reshape(len(payloads), -1)
        total = entries.sum(axis=0, dtype=np.int64)
        made = Histogram.of_noised(self.description, topic, period, len(payloads), total)
        self.telemetry.tell(PUBLISHED, topic=topic, period=period, reports=made.reports)
        return parse_record(store.keep_first(HISTOGRAM, topic, period, json.dumps(made.record())))


def parse_record(record: str) -> dict[str, Any]:
    parsed: dict[str, Any] = parse_json(record)
    return parsed


class Admission:
    """The tokens that a server admits, so that k reports are those of k people.

    Whoever runs the servers hands every person one token, by a way of its own, and gives both
    servers the list. A token admits one report a topic and period. It hides nothing of who reports:
    the servers can link a person's reports by it, and whoever handed out the tokens knows whose
    they are. What a report says stays as hidden as it is without one. A server keeps no token, only
    what tells that one was used for a topic and period, and only until that is published.
    """

    def __init__(self, tokens: list[str]) -> None:
        # Looked up by their hashes, so that how long it takes tells nothing of a token.
        self._hashes = {_hash(token) for token in tokens}

    def __len__(self) -> int:
        return len(self._hashes)

    def member(self, token: str, topic: str, period: int) -> str | None:
        """What a token is known by in one topic and period; None where it admits nobody."""
        if _hash(token) not in self._hashes:
            return None
        return _hash(f"{token}\n{period}\n{topic}").hex()


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()

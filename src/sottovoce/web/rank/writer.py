"""One thread that owns the store: many reports share one commit, and so one wait for the disk.

A report is acknowledged only after the commit that holds it. While one commit waits for the disk
the next reports pile up, and all of them go into the next: the busier, the larger the batches.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeAlias, TypeVar

from sottovoce.errors import SottovoceError
from sottovoce.web.rank.storage import Outcome, Store, StoredReport

Result = TypeVar("Result")
_Task: TypeAlias = Callable[[Store], Any]
_Job: TypeAlias = tuple[StoredReport | _Task, "Future[Any]"]

MOST_WAITING = 20_000
_MOST_AT_ONCE = 1000


class BusyError(SottovoceError):
    """More waits to be stored than the server lets wait."""


class GroupWriter:
    """Runs everything that touches ``store``, in order, on a thread of its own."""

    def __init__(self, store: Store, *, most_waiting: int = MOST_WAITING) -> None:
        self._store = store
        self._jobs: queue.Queue[_Job | None] = queue.Queue(most_waiting)
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="rank store", daemon=True)
        self._thread.start()

    def keep(self, report: StoredReport) -> "Future[Outcome]":
        """Store ``report`` together with whatever else arrives; done when it is durable."""
        return self._enqueue(report)

    def run(self, task: Callable[[Store], Result]) -> "Future[Result]":
        """Run ``task`` on the store, after everything that was asked before."""
        return self._enqueue(task)

    def close(self) -> None:
        """Finish what was asked, then close the store; nothing more is taken."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        self._thread.join()

    def _enqueue(self, job: StoredReport | _Task) -> "Future[Any]":
        done: Future[Any] = Future()
        if self._closed:
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

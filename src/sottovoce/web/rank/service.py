"""What a rank server does with reports, apart from HTTP."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.errors import ProtocolError
from sottovoce.web.rank.storage import Outcome, Store, StoredReport
from sottovoce.web.rank.writer import GroupWriter

if TYPE_CHECKING:
    from concurrent.futures import Future

MOST_LISTED = 100
Clock = Callable[[], float]


class RankService:
    """One rank server of the noise mode, or what both modes share."""

    def __init__(self, description: Description, store: Store, *, clock: Clock = time.time) -> None:
        store.bind(description.version)
        self.description = description
        self.writer = GroupWriter(store)
        self._clock = clock

    @property
    def period(self) -> int:
        """The number of the period that runs."""
        return self.description.period_at(self._clock())

    def described(self) -> dict[str, Any]:
        """The description, its version, the running period and when it ends."""
        ends = (self.period + 1) * self.description.period_s
        state = {"version": self.description.version, "period": self.period, "ends": ends}
        return self.description.record() | state

    def keep(self, topic: str, period: int, token: str, payload: bytes) -> "Future[Outcome]":
        """Store a report; done when it is durable."""
        return self.writer.keep(StoredReport(topic, period, token, payload))

    def periods(self, topic: str) -> list[int]:
        """The latest periods with a histogram, those that fall due now included."""
        with suppress(ProtocolError):
            self.publish_due()
        listed = self.writer.run(lambda store: store.published_periods(topic, MOST_LISTED))
        return listed.result()

    def histogram(self, topic: str, period: int) -> dict[str, Any] | None:
        """The histogram of a period that is over, published at this moment if it was not."""
        if period >= self.period:
            return None
        record = self.writer.run(lambda store: store.published(topic, period)).result()
        return _parsed(record) if record else self.publish(topic, period)

    def publish_due(self) -> None:
        """Publish every period that is over and has reports.

        One that cannot be opened must not hold up the others; it is told at the end.
        """
        refused: ProtocolError | None = None
        topics, now = tuple(self.description.by_name), self.period
        for topic, period in self.writer.run(lambda store: store.due(topics, now)).result():
            try:
                self.publish(topic, period)
            except ProtocolError as error:
                refused = error
        if refused is not None:
            raise refused

    def publish(self, topic: str, period: int) -> dict[str, Any] | None:
        """Work out and publish a histogram; None where nobody reported."""
        return self.writer.run(lambda store: self._published(store, topic, period)).result()

    def close(self) -> None:
        """Finish what was asked, and close the store."""
        self.writer.close()

    def _published(self, store: Store, topic: str, period: int) -> dict[str, Any] | None:
        """Read, sum and publish in one go: the store's thread lets no report in between."""
        earlier = store.published(topic, period)
        if earlier:
            return _parsed(earlier)
        _, payloads = store.payloads(topic, period)
        if not payloads:
            return None
        entries = np.frombuffer(b"".join(payloads), dtype=np.int8).reshape(len(payloads), -1)
        total = entries.sum(axis=0, dtype=np.int64)
        made = Histogram.of_noised(self.description, topic, period, len(payloads), total)
        return _parsed(store.publish(topic, period, json.dumps(made.record())))


def _parsed(record: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(record)
    return parsed

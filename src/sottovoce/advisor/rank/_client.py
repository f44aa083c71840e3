"""A person's side: their score stays here; a noised or shared bucket leaves, within a budget.

What it costs them, and what still shows:

- `noise`: each bucket of each topic is noised once and the result kept for ever, so that repeating
  it gives nothing away: k distinct buckets of a topic cost k epsilon, however many periods pass.
  Not hidden at all is the pattern: a kept report is nearly unique, so the server can link one
  person's reports over the periods and sees when their bucket changes and when it comes back.
- `shares`: the servers draw noise anew for each period's sum, so each period costs epsilon.

Both are committed in the person's ledger before anything is drawn; beyond their budget nothing is
sent. A `Quote` says what a report would be, before they agree to it.

The person's machine keeps two files, readable by them only. The ledger holds what they may spend,
and every report's noise or shares, drawn once. The diary holds which bucket they reported for a
period and under which random token, so that a retry is the same report again. Whoever reads these
files reads their buckets; whoever deletes them must not report again to the same server, since new
noise for an old bucket adds to what was given away.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from sottovoce._files import PRIVATE_MODE, output_folder
from sottovoce.advisor.rank._description import Description, RankedTopic
from sottovoce.advisor.rank._histogram import Histogram, RankEstimate, estimate_rank
from sottovoce.advisor.rank._noise import MOVED
from sottovoce.advisor.rank._shares import packed, split
from sottovoce.advisor.rank._transport import HttpTransport, Transport
from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.privacy._exact import Exact
from sottovoce.privacy._guarantee import LimitedPrecision
from sottovoce.privacy._randomness import random_bytes
from sottovoce.privacy.ledger import Account, Ledger, SpendRequest

TOKEN_BYTES = 16
_PATIENCE_S = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS report (
    version TEXT NOT NULL,
    topic TEXT NOT NULL,
    period INTEGER NOT NULL,
    token TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    PRIMARY KEY (version, topic, period)
) STRICT
"""
_FIND = "SELECT token, bucket FROM report WHERE version = ? AND topic = ? AND period = ?"


@dataclass(frozen=True)
class DiaryEntry:
    """One report: the random token it goes by, and the bucket it is about."""

    token: str
    bucket: int


class Diary:
    """One report for each topic and period, the first that was decided on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_MODE))
        except OSError as error:
            raise LedgerError(f"cannot keep a diary in {path}: {error.strerror}.") from error
        with self._open() as connection:
            connection.execute(_TABLE)

    def entry(self, version: str, topic: str, period: int, bucket: int) -> DiaryEntry:
        """The report for that topic and period: ``bucket``, unless another was written down."""
        key = (version, topic, period)
        new = (*key, random_bytes(TOKEN_BYTES).hex(), bucket)
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO report VALUES (?, ?, ?, ?, ?)", new)
            return DiaryEntry(*connection.execute(_FIND, key).fetchone())

    def written(self, version: str, topic: str, period: int) -> DiaryEntry | None:
        """What was written down for that topic and period."""
        with self._open() as connection:
            row = connection.execute(_FIND, (version, topic, period)).fetchone()
        return None if row is None else DiaryEntry(*row)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self._path, timeout=_PATIENCE_S)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LedgerError(f"the diary {self._path} refuses: {error}.") from error


PERIODS_TRIED = 10


def latest_histogram(server: Transport, description: Description, topic: str) -> Histogram | None:
    """The latest histogram of ``topic`` that was not withheld; None where there is none."""
    path = f"/histograms/{quote(topic, safe='')}"
    for period in _periods(server, path):
        record = server.call("GET", f"{path}/{period}")
        if not isinstance(record, dict):
            raise InputError("the rank server's histogram is not as it should be.")
        found = Histogram.from_record(record, description)
        if found.topic != topic:
            raise InputError("the rank server answers with the histogram of another topic.")
        if found.counts is not None:
            return found
    return None


def _periods(server: Transport, path: str) -> list[int]:
    listed = server.call("GET", path)
    periods = listed.get("periods") if isinstance(listed, dict) else None
    if not isinstance(periods, list) or not all(isinstance(each, int) for each in periods):
        raise InputError("the rank server's list of periods is not as it should be.")
    return sorted(periods, reverse=True)[:PERIODS_TRIED]


@dataclass(frozen=True)
class Quote:
    """A report that could be sent now.

    Attributes:
        version: of the server's description.
        mode: ``noise`` or ``shares``.
        topic: what it is about.
        period: the period that runs.
        period_s: how long a period lasts, in seconds.
        bucket: the bucket that would be reported, from 0: that of her score, or of the report
            that she made in this period already.
        buckets: how many there are.
        epsilon: what a report that is not paid for yet costs.
        paid: whether it costs nothing any more.
        repeated: whether she reported in this period already; then it is the same report again.
        left: what is left of her budget before it.
        budget: the whole of it.
    """

    version: str
    mode: str
    topic: str
    period: int
    period_s: int
    bucket: int
    buckets: int
    epsilon: Fraction
    paid: bool
    repeated: bool
    left: Fraction
    budget: Fraction

    @property
    def cost(self) -> Fraction:
        """What it would take of her budget."""
        return Fraction(0) if self.paid else self.epsilon

    @property
    def affordable(self) -> bool:
        """Whether her budget allows it."""
        return self.cost <= self.left

    @property
    def mark(self) -> str:
        """What tells this quote from any other, so that she gets what she agreed to."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()


ACCOUNT = "rank reports"
LEDGER_FILE, DIARY_FILE = "rank.ledger", "rank.diary"


class RankClient:
    """One person and her rank server, or her two in the mode of shares.

    Args:
        server: its URL, or what carries requests to it.
        folder: where her ledger and diary are; one for all servers.
        budget: the most epsilon that she ever spends, over all topics, periods and servers.
        second: the second server, in the mode of shares.
    """

    def __init__(
        self,
        server: str | Transport,
        folder: str | Path,
        *,
        budget: Exact,
        second: str | Transport | None = None,
    ) -> None:
        if second is not None and second == server:
            raise ParameterError("the two servers must be two, run by people who do not collude.")
        self._servers = [_transport(each) for each in (server, second) if each is not None]
        folder = output_folder(Path(folder))
        self._ledger = Ledger(folder / LEDGER_FILE, create=True)
        self._ledger.set_budget(ACCOUNT, LimitedPrecision(MOVED, budget, "user"))
        self._diary = Diary(folder / DIARY_FILE)
        self._description: Description | None = None

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

    @property
    def account(self) -> Account:
        """What she may spend and has spent."""
        return self._ledger.account(ACCOUNT)

    @property
    def description(self) -> Description:
        """The server's rules, as they were when first asked."""
        if self._description is None:
            self._description = self._describe()[0]
        return self._description

    def quote(self, topic: str, score: float) -> Quote:
        """What reporting ``score`` now would be and cost; sends, draws and spends nothing."""
        return self._quote(topic, score, self._asked_anew())

    def report(self, topic: str, score: float, *, agreed: str | None = None) -> int:
        """Report the bucket of ``score`` for the period that runs; returns the period's number.

        Once a period: a second call sends the same report again, whatever the score is by then.
        ``agreed`` is the mark of the `quote` that she agreed to; what is not that any more is not
        sent. Raises `BudgetError`, with nothing drawn or sent, when her budget does not allow it.
        """
        period = self._asked_anew()
        if agreed is not None and self._quote(topic, score, period).mark != agreed:
            raise InputError("what would be sent has changed meanwhile; nothing was sent.")
        description, ranked = self.description, self.description.topic(topic)
        entry = self._diary.entry(description.version, topic, period, ranked.buckets.of(score))
        head = {
            "topic": topic,
            "period": period,
            "id": entry.token,
            "description": description.version,
        }
        if description.mode == "noise":
            self._servers[0].call("POST", "/reports", head | {"entries": self._kept(ranked, entry)})
        else:
            for server, share in zip(
                self._servers, self._shared(ranked, period, entry), strict=True
            ):
                server.call("POST", "/shares", head | {"share": share})
        return period

    def rank(self, topic: str, score: float) -> RankEstimate:
        """Where ``score`` stands in the latest histogram; asks for what everybody may ask."""
        bucket = self.description.topic(topic).buckets.of(score)
        return estimate_rank(self.histogram(topic), self.description, bucket)

    def histogram(self, topic: str) -> Histogram:
        """The latest published histogram of ``topic`` that was not withheld."""
        found = latest_histogram(self._servers[0], self.description, topic)
        if found is None:
            raise InputError(
                "no histogram of this topic is published yet, or too few people reported; ask "
                "again after the period."
            )
        return found

    def _asked_anew(self) -> int:
        """The period that runs; the description is the server's of now."""
        self._description, period = self._describe()
        return period

    def _quote(self, topic: str, score: float, period: int) -> Quote:
        rules, ranked, account = self.description, self.description.topic(topic), self.account
        written = self._diary.written(rules.version, topic, period)
        bucket = ranked.buckets.of(score) if written is None else written.bucket
        wanted = self._request(self._what(ranked, period, bucket)).id
        return Quote(
            rules.version, rules.mode, topic, period, rules.period_s, bucket,
            ranked.buckets.number, rules.epsilon,
            paid=any(spend.request.id == wanted for spend in self._ledger.spends(ACCOUNT)),
            repeated=written is not None,
            left=account.left * MOVED, budget=account.budget.epsilon,
        )  # fmt: skip

    def _describe(self) -> tuple[Description, int]:
        answers = [server.call("GET", "/description") for server in self._servers]
        descriptions = [Description.from_record(_mapping(answer)) for answer in answers]
        first = descriptions[0]
        if any(each.version != first.version for each in descriptions):
            raise InputError("the two servers must publish one description; they do not.")
        if (first.mode == "shares") != (len(descriptions) == 2):  # noqa: PLR2004 - two servers
            raise InputError(
                f"the server's mode is {first.mode}: noise takes one server, shares take two."
            )
        return first, int(answers[0]["period"])

    def _kept(self, topic: RankedTopic, entry: DiaryEntry) -> list[int]:
        """Her noised report of this bucket: drawn once, from then on the same for ever."""
        noise = self.description.noise(topic.name)

        def draw(path: Path) -> None:
            path.write_bytes(np.array(noise.report(entry.bucket), dtype=np.int8).tobytes())

        stored = self._stored(self._what(topic, 0, entry.bucket), draw)
        return [int(entry) for entry in np.frombuffer(stored, dtype=np.int8)]

    def _shared(self, topic: RankedTopic, period: int, entry: DiaryEntry) -> list[str]:
        """The two shares of this period's report: drawn once, the same on every retry."""

        def draw(path: Path) -> None:
            both = split([entry.bucket], topic.buckets.number)
            path.write_text("\n".join(packed(share[0]) for share in both), encoding="ascii")

        stored = self._stored(self._what(topic, period, entry.bucket), draw)
        return stored.decode("ascii").split("\n")

    def _what(self, topic: RankedTopic, period: int, bucket: int) -> str:
        """What is paid for once: a bucket for ever, or all of a period."""
        noise = self.description.mode == "noise"
        return f"{topic.name}/bucket {bucket}" if noise else f"{topic.name}/period {period}"

    def _request(self, what: str) -> SpendRequest:
        guarantee = LimitedPrecision(MOVED, self.description.epsilon, "user")
        return SpendRequest(f"{self.description.version[:32]}/{what}", ACCOUNT, guarantee)

    def _stored(self, what: str, draw: Callable[[Path], None]) -> bytes:
        output = self._ledger.release(self._request(what), draw).output
        if output is None:
            raise InputError("the ledger gave no report back.")
        return output.path.read_bytes()


def _transport(server: str | Transport) -> Transport:
    return HttpTransport(server) if isinstance(server, str) else server


def _mapping(answer: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    if not isinstance(answer, dict) or not isinstance(answer.get("period"), int):
        raise InputError("what the rank server describes itself with is not as it should be.")
    return answer

"""A person's side: their score stays here; a noised or shared bucket leaves, within a budget.

What it costs them, and what still shows:

- `noise`: each bucket of each topic is noised once and the result kept for ever, so that repeating
  it gives nothing away: k distinct buckets of a topic cost k epsilon, however many periods pass.
  Not hidden at all is the pattern: a kept report is nearly unique, so the server can link one
  person's reports over the periods and sees when their bucket changes and when it comes back.
- `shares`: the servers draw noise again for each period's sum, so each period costs epsilon.

Both are committed in the person's ledger before anything is drawn; beyond their budget nothing is
sent. A `Quote` says what a report would be, before they agree to it. Rules are agreed to once: a
server that asks for anything new gets nothing until the person agrees to a quote of that.

The person's machine keeps two files, readable by them only. The ledger holds what they may spend,
and every report's noise or shares, drawn once. The diary holds which bucket they reported for a
period under which random token, so that a retry is the same report again; which reports were drawn;
and which rules of a server they agreed to. Whoever reads these files reads their buckets; whoever
deletes them must not report again to the same server, since new noise for an old bucket adds to
what was given away. A ledger that lacks a report of the diary draws nothing any more.

In the mode of shares a report is one of Prio3 (``shares``), sent to each of the two servers by
itself. It goes under one token to two servers, ever: the ledger keeps the token beside the shares,
and shares for two other servers are drawn, and paid for, apart.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, assert_never
from urllib.parse import quote

import numpy as np

from sottovoce.advisor.rank.description import Description, HttpTransport, RankedTopic, Transport
from sottovoce.advisor.rank.histogram import Histogram, RankEstimate, estimate_rank
from sottovoce.advisor.rank.noise import MOVED
from sottovoce.advisor.rank.shares import SharedReport
from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.files import output_folder
from sottovoce.privacy.exact import Exact, text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import Account, SpendRequest
from sottovoce.privacy.ledger.ledger import Ledger, Spend
from sottovoce.privacy.randomness import random_bytes
from sottovoce.sqlite import StoreFile, StoreKind

TOKEN_BYTES = 16
_TABLES = """
CREATE TABLE report (
    version TEXT NOT NULL,
    topic TEXT NOT NULL,
    period INTEGER NOT NULL,
    token TEXT NOT NULL, bucket INTEGER NOT NULL,
    PRIMARY KEY (version, topic, period)
) STRICT;
CREATE TABLE drawn (request TEXT PRIMARY KEY) STRICT;
CREATE TABLE rules (server TEXT PRIMARY KEY, version TEXT NOT NULL) STRICT;
"""
_DIARY = StoreKind(
    name="diary",
    application=0x53764469,
    version=1,
    tables=_TABLES,
    error=LedgerError,
    pragmas=(),
    write_ahead=False,
    patience_s=30.0,
)
_FIND = "SELECT token, bucket FROM report WHERE version = ? AND topic = ? AND period = ?"


class DiaryEntry(NamedTuple):
    """One report: the random token it goes by, and the bucket it is about."""

    token: str
    bucket: int


class Diary:
    """One report for each topic and period, the first that was decided on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        StoreFile(_DIARY, path).close()

    @property
    def has_reports(self) -> bool:
        """Whether any report was ever decided on."""
        return bool(self._rows("SELECT 1 FROM report LIMIT 1"))

    def entry(self, version: str, topic: str, period: int, bucket: int) -> DiaryEntry:
        """The report for that topic and period: ``bucket``, unless another was written down."""
        key = (version, topic, period)
        new = (*key, random_bytes(TOKEN_BYTES).hex(), bucket)
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO report VALUES (?, ?, ?, ?, ?)", new)
            return DiaryEntry(*connection.execute(_FIND, key).fetchone())

    def find_entry(self, version: str, topic: str, period: int) -> DiaryEntry | None:
        """What was written down for that topic and period."""
        found = self._rows(_FIND, version, topic, period)
        return DiaryEntry(*found[0]) if found else None

    def note_drawn(self, requests: Iterable[str]) -> None:
        """Remember what the ledger holds, so that a ledger without it is known for another."""
        with self._open() as connection:
            rows = [(request,) for request in requests]
            connection.executemany("INSERT OR IGNORE INTO drawn VALUES (?)", rows)

    def list_drawn(self) -> set[str]:
        """The ids of all spends whose noise or shares were drawn."""
        return {str(row[0]) for row in self._rows("SELECT request FROM drawn")}

    def agree(self, server: str, version: str) -> None:
        """Remember which rules of ``server`` were agreed to; of one without a name, nothing."""
        if server:
            self._rows("INSERT OR REPLACE INTO rules VALUES (?, ?)", server, version)

    def agreed_version(self, server: str) -> str | None:
        """The version of the rules of ``server`` that were agreed to."""
        found = self._rows("SELECT version FROM rules WHERE server = ?", server)
        return str(found[0][0]) if found else None

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._open() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(StoreFile(_DIARY, self._path)) as file, file.transaction() as connection:
            yield connection


PERIODS_TRIED = 10


def latest_histogram(server: Transport, description: Description, topic: str) -> Histogram | None:
    """The latest histogram of ``topic`` that was not withheld; None where there is none."""
    path = f"/histograms/{quote(topic, safe='')}"
    listed = server.call("GET", path)
    periods = listed.get("periods") if isinstance(listed, dict) else None
    if not isinstance(periods, list) or not all(isinstance(each, int) for each in periods):
        raise InputError("the rank server sent a list of periods of the wrong form.")
    for period in sorted(periods, reverse=True)[:PERIODS_TRIED]:
        record = server.call("GET", f"{path}/{period}")
        if not isinstance(record, dict):
            raise InputError("the rank server sent a histogram of the wrong form.")
        found = Histogram.from_record(record, description)
        if found.topic != topic:
            raise InputError("the rank server answers with the histogram of another topic.")
        if found.counts is not None:
            return found
    return None


@dataclass(frozen=True)
class Quote:
    """A report that could be sent now, under one version of the server's description."""

    version: str
    mode: str
    topic: str
    period: int
    period_s: int
    bucket: int
    """From 0: that of the score, or of the report that was made in this period already."""
    buckets: int
    epsilon: Fraction
    """What a report that is not paid for yet costs."""
    paid: bool
    repeated: bool
    """Whether they reported in this period already; then it is the same report again."""
    left: Fraction
    """Of the budget, before it."""
    budget: Fraction

    @property
    def cost(self) -> Fraction:
        """What it would take of the budget."""
        return Fraction(0) if self.paid else self.epsilon

    @property
    def affordable(self) -> bool:
        """Whether the budget allows it."""
        return self.cost <= self.left

    @property
    def mark(self) -> str:
        """What tells this quote from any other, so that people get what they agreed to."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()


ACCOUNT = "rank reports"
LEDGER_FILE, DIARY_FILE = "rank.ledger", "rank.diary"
LOST_LEDGER = (
    f"{LEDGER_FILE} lacks reports that {DIARY_FILE} knows: it was deleted, or replaced by an older "
    "copy. New noise for an old bucket would reveal more, so nothing is drawn or sent. Restore "
    f"the {LEDGER_FILE} and {LEDGER_FILE}.outputs that belong to the diary."
)


class RankClient:
    """One person and their rank server, or their two in the mode of shares.

    Args:
        server: its URL, or what carries requests to it, known again by its ``address`` if any.
        folder: where their ledger and diary are; one for all servers.
        budget: the most epsilon that they ever spend, over all topics, periods and servers.
        second: the second server, in the mode of shares.
        admission: the token that whoever runs the servers gave them, where one is asked for.
    """

    def __init__(
        self,
        server: str | Transport,
        folder: str | Path,
        *,
        budget: Exact,
        second: str | Transport | None = None,
        admission: str | None = None,
    ) -> None:
        self._servers = [
            HttpTransport(each) if isinstance(each, str) else each
            for each in (server, second)
            if each is not None
        ]
        addresses = [str(getattr(each, "address", "")) for each in self._servers]
        self._where = "\n".join(addresses) if all(addresses) else ""
        """What tells a person's servers from others; nothing where one has no address."""
        named = {str(getattr(each, "address", each)).lower() for each in self._servers}
        if len(named) < len(self._servers):
            raise ParameterError("give two different servers, run by people who do not collude.")
        folder = output_folder(Path(folder))
        self._diary = Diary(folder / DIARY_FILE)
        if self._diary.has_reports and not (folder / LEDGER_FILE).exists():
            raise InputError(LOST_LEDGER)
        self._ledger = Ledger(folder / LEDGER_FILE, create=True)
        self._ledger.set_budget(ACCOUNT, LimitedPrecision(MOVED, budget, "user"))
        self._admission = {} if admission is None else {"admission": admission}
        self._description: Description | None = None
        self._agreed = self._diary.agreed_version(self._where)

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

    @property
    def account(self) -> Account:
        """What they may spend and have spent."""
        return self._ledger.account(ACCOUNT)

    @property
    def description(self) -> Description:
        """The server's rules, as they were when last asked."""
        return self._description or self._ask_anew()[0]

    def quote(self, topic: str, score: float) -> Quote:
        """What reporting ``score`` now would be and cost; sends, draws and spends nothing."""
        _, period = self._ask_anew()
        self._refuse_lost_ledger()
        return self._quote(topic, score, period)

    def report(self, topic: str, score: float, *, agreed: str | None = None) -> int:
        """Report the bucket of ``score`` for the period that runs; returns the period's number.

        Once a period: a second call sends the same report again, whatever the score is by then.
        ``agreed`` is the mark of the `quote` that was agreed to; what is not that any more is not
        sent. Without it the report is under the rules agreed to before, or that this
        client was first told; where the server has others by now, nothing is sent. Raises
        `BudgetError`, with nothing drawn or sent, when the budget does not allow it.
        """
        rules, period = self._ask_anew()
        self._refuse_lost_ledger()
        if agreed is None and rules.version != self._agreed:
            raise InputError(
                "the rank server's rules are not those you agreed to (a report now costs "
                f"epsilon {text_up(rules.epsilon)}); nothing was drawn, spent or sent. "
                "Look at quote(), and give its mark: report(..., agreed=quote.mark)."
            )
        if agreed is not None and self._quote(topic, score, period).mark != agreed:
            raise InputError("the report has changed meanwhile; nothing was sent.")
        ranked = rules.topic(topic)
        self._agreed = rules.version
        self._diary.agree(self._where, rules.version)
        entry = self._diary.entry(rules.version, topic, period, ranked.buckets.find(score))
        head = {"topic": topic, "period": period, "description": rules.version} | self._admission
        for server, own in self._draw_once(rules, ranked, period, entry):
            server.call("POST", "/reports", head | own)
        return period

    def rank(self, topic: str, score: float) -> RankEstimate:
        """Where ``score`` stands in the latest histogram; asks for what everybody may ask."""
        bucket = self.description.topic(topic).buckets.find(score)
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

    def _ask_anew(self) -> tuple[Description, int]:
        """The server's rules of now, and the period that runs."""
        answers = [_mapping(server.call("GET", "/description")) for server in self._servers]
        first, *others = [Description.from_record(answer) for answer in answers]
        if any(each.version != first.version for each in others):
            raise InputError("the two servers must publish the same description, but do not.")
        if (first.mode == "shares") != bool(others):
            raise InputError(
                f"the server's mode is {first.mode}: noise takes one server, shares take two."
            )
        period = int(answers[0]["period"])
        if any(int(answer["period"]) != period for answer in answers):
            # One server alone could else make people pay for a period after the other.
            raise InputError(
                "the two servers do not agree which period runs, so nothing was drawn or sent; try "
                "again in a moment."
            )
        self._description, self._agreed = first, self._agreed or first.version
        return first, period

    def _refuse_lost_ledger(self) -> None:
        if not self._diary.list_drawn() <= {spend.request.id for spend in self._list_drawn()}:
            raise InputError(LOST_LEDGER)

    def _list_drawn(self) -> list[Spend]:
        """The reports that exist: whatever was sent is among them."""
        return [spend for spend in self._ledger.spends(ACCOUNT) if spend.output is not None]

    def _quote(self, topic: str, score: float, period: int) -> Quote:
        rules, ranked, account = self.description, self.description.topic(topic), self.account
        written = self._diary.find_entry(rules.version, topic, period)
        bucket = ranked.buckets.find(score) if written is None else written.bucket
        wanted = self._request(self._what(ranked, period, bucket)).id
        return Quote(
            rules.version, rules.mode, topic, period, rules.period_s, bucket,
            ranked.buckets.number, rules.epsilon,
            paid=any(spend.request.id == wanted for spend in self._ledger.spends(ACCOUNT)),
            repeated=written is not None,
            left=account.rest * MOVED, budget=account.budget.epsilon,
        )  # fmt: skip

    def _draw_once(
        self, rules: Description, topic: RankedTopic, period: int, entry: DiaryEntry
    ) -> list[tuple[Transport, dict[str, Any]]]:
        """What each server gets: drawn once, from then on the same."""
        what = self._what(topic, period, entry.bucket)
        match rules.mode:
            case "noise":
                noise = rules.noise(topic.name)
                stored = self._store(
                    what, lambda: np.array(noise.report(entry.bucket), dtype=np.int8).tobytes()
                )
                entries = np.frombuffer(stored, dtype=np.int8).tolist()
                return [(self._servers[0], {"id": entry.token, "entries": entries})]
            case "shares":
                parts = (rules, topic.name, period, entry.token, entry.bucket)
                stored = self._store(what, lambda: SharedReport.of_bucket(*parts).text().encode())
                report = SharedReport.from_text(stored.decode("ascii"))
                # The second first: when the first asks it about the report, it is there.
                return [(self._servers[place], report.request_fields(place)) for place in (1, 0)]
            case _:
                assert_never(rules.mode)

    def _what(self, topic: RankedTopic, period: int, bucket: int) -> str:
        """What is paid for once: a bucket for ever, or all of a period at these two servers."""
        if self.description.mode == "noise":
            return f"{topic.name}/bucket {bucket}"
        servers = hashlib.sha256(self._where.encode()).hexdigest()[:16]
        return f"{topic.name}/period {period}/servers {servers}"

    def _request(self, what: str) -> SpendRequest:
        guarantee = LimitedPrecision(MOVED, self.description.epsilon, "user")
        return SpendRequest(f"{self.description.version[:32]}/{what}", ACCOUNT, guarantee)

    def _store(self, what: str, draw: Callable[[], bytes]) -> bytes:
        def write(path: Path) -> None:
            path.write_bytes(draw())

        output = self._ledger.release(self._request(what), write).output
        if output is None:
            raise InputError("the ledger gave no report back.")
        self._diary.note_drawn(spend.request.id for spend in self._list_drawn())
        return output.path.read_bytes()


def _mapping(answer: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    period = answer.get("period") if isinstance(answer, dict) else None
    if not isinstance(period, int) or not 0 <= period < 1 << 63:
        raise InputError("the rank server sent a description of the wrong form.")
    return dict(answer)

"""A person's side: their score stays here; a noised or shared bucket leaves, within a budget.

What it costs them, and what still shows:

- `noise`: each bucket of each topic is noised once and the result kept for ever, so that repeating
  it gives nothing away: k distinct buckets of a topic cost k epsilon, however many periods pass.
  Not hidden at all is the pattern: a kept report is nearly unique, so the server can link one
  person's reports over the periods and sees when their bucket changes and when it comes back.
- `shares`: the servers draw noise again for each period's sum, so each period costs epsilon.

Both are committed in the person's ledger before anything is drawn; beyond their budget nothing is
sent. A `Quote` says what a report would be, before they agree to it.

The person's machine keeps two files, readable by them only. The ledger holds what they may spend,
and every report's noise or shares, drawn once. The diary holds which bucket they reported for a
period and under which random token, so that a retry is the same report again; which reports were
drawn; and which rules of a server they agreed to. Whoever reads these files reads their buckets;
whoever deletes them must not report again to the same server, since new noise for an old bucket
adds to what was given away. A ledger that lacks a report of the diary, because it was deleted or an
older copy was put back, draws nothing any more.

Rules are agreed to once. A server that asks for more epsilon later, or anything else that is new,
gets nothing until the person agrees to a quote of that.

In the mode of shares a report is one of Prio3 (``shares``), sent to each of the two servers by
itself. It goes under one token to two servers, ever: the ledger keeps the token beside the shares,
and shares for two other servers are drawn, and paid for, apart.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from sottovoce.advisor.rank._diary import Diary, DiaryEntry
from sottovoce.advisor.rank.description import Description, RankedTopic
from sottovoce.advisor.rank.histogram import Histogram, RankEstimate, estimate_rank
from sottovoce.advisor.rank.noise import MOVED
from sottovoce.advisor.rank.shares import SharedReport
from sottovoce.advisor.rank.transport import HttpTransport, Transport
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import output_folder
from sottovoce.privacy.exact import Exact, text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import Account, SpendRequest
from sottovoce.privacy.ledger.ledger import Ledger, Spend

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
        bucket: the bucket that would be reported, from 0: that of the score, or of the report
            that was made in this period already.
        buckets: how many there are.
        epsilon: what a report that is not paid for yet costs.
        paid: whether it costs nothing any more.
        repeated: whether they reported in this period already; then it is the same report again.
        left: what is left of the budget before it.
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
    f"{LEDGER_FILE} lacks reports that {DIARY_FILE} knows: it was deleted, or an older copy was "
    "put back. New noise for an old bucket would add to what was given away, so nothing is drawn "
    f"or sent. Put back the {LEDGER_FILE} and {LEDGER_FILE}.outputs that belong to the diary."
)


class RankClient:
    """One person and their rank server, or their two in the mode of shares.

    Args:
        server: its URL, or what carries requests to it; with an ``address`` of its own, it is known
            again after a restart.
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
        self._servers = [_transport(each) for each in (server, second) if each is not None]
        self._where = _address(self._servers)
        if second is not None and (second == server or _one_address(self._servers)):
            raise ParameterError("the two servers must be two, run by people who do not collude.")
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
        return self._description or self._asked_anew()[0]

    def quote(self, topic: str, score: float) -> Quote:
        """What reporting ``score`` now would be and cost; sends, draws and spends nothing."""
        _, period = self._asked_anew()
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
        _, period = self._asked_anew()
        self._refuse_lost_ledger()
        if agreed is None:
            self._refuse_other_rules()
        elif self._quote(topic, score, period).mark != agreed:
            raise InputError("what would be sent has changed meanwhile; nothing was sent.")
        description, ranked = self.description, self.description.topic(topic)
        self._agreed = description.version
        self._diary.agree(self._where, description.version)
        entry = self._diary.entry(description.version, topic, period, ranked.buckets.find(score))
        head = {
            "topic": topic,
            "period": period,
            "description": description.version,
        } | self._admission
        if description.mode == "noise":
            more = {"id": entry.token, "entries": self._keep_noise(ranked, entry)}
            self._servers[0].call("POST", "/reports", head | more)
        else:
            report = self._share_report(ranked, period, entry)
            # The second first: when the first asks it about the report, it is there.
            for place in (1, 0):
                self._servers[place].call("POST", "/reports", head | report.request_fields(place))
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

    def _asked_anew(self) -> tuple[Description, int]:
        """The server's rules of now, and the period that runs."""
        self._description, period = self._describe()
        self._agreed = self._agreed or self._description.version
        return self._description, period

    def _refuse_other_rules(self) -> None:
        if self.description.version != self._agreed:
            raise InputError(
                "the rank server's rules are not those that you agreed to (a report now costs "
                f"epsilon {text_up(self.description.epsilon)}); nothing was drawn, spent or sent. "
                "Look at quote(), and give its mark: report(..., agreed=quote.mark)."
            )

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
        if len({int(answer["period"]) for answer in answers}) > 1:
            # One server alone could else make people pay for a period after the other.
            raise InputError(
                "the two servers do not agree which period runs, so nothing was drawn or sent; try "
                "again in a moment."
            )
        return first, int(answers[0]["period"])

    def _keep_noise(self, topic: RankedTopic, entry: DiaryEntry) -> list[int]:
        """The noised report of this bucket: drawn once, from then on the same for ever."""
        noise = self.description.noise(topic.name)

        def draw(path: Path) -> None:
            path.write_bytes(np.array(noise.report(entry.bucket), dtype=np.int8).tobytes())

        stored = self._store(self._what(topic, 0, entry.bucket), draw)
        return [int(entry) for entry in np.frombuffer(stored, dtype=np.int8)]

    def _share_report(self, topic: RankedTopic, period: int, entry: DiaryEntry) -> SharedReport:
        """This period's report in shares: drawn once, the same on every retry."""

        def draw(path: Path) -> None:
            drawn = SharedReport.of_bucket(
                self.description, topic.name, period, entry.token, entry.bucket
            )
            path.write_text(drawn.text(), encoding="ascii")

        stored = self._store(self._what(topic, period, entry.bucket), draw)
        return SharedReport.from_text(stored.decode("ascii"))

    def _what(self, topic: RankedTopic, period: int, bucket: int) -> str:
        """What is paid for once: a bucket for ever, or all of a period at these two servers."""
        if self.description.mode == "noise":
            return f"{topic.name}/bucket {bucket}"
        servers = hashlib.sha256(self._where.encode()).hexdigest()[:16]
        return f"{topic.name}/period {period}/servers {servers}"

    def _request(self, what: str) -> SpendRequest:
        guarantee = LimitedPrecision(MOVED, self.description.epsilon, "user")
        return SpendRequest(f"{self.description.version[:32]}/{what}", ACCOUNT, guarantee)

    def _store(self, what: str, draw: Callable[[Path], None]) -> bytes:
        output = self._ledger.release(self._request(what), draw).output
        if output is None:
            raise InputError("the ledger gave no report back.")
        self._diary.note_drawn(spend.request.id for spend in self._list_drawn())
        return output.path.read_bytes()


def _address(servers: Sequence[Transport]) -> str:
    """What tells a person's servers from others; nothing where one has no address."""
    named = [str(getattr(each, "address", "")) for each in servers]
    return "\n".join(named) if all(named) else ""


def _one_address(servers: Sequence[Transport]) -> bool:
    """Whether all are one server, as far as their addresses tell."""
    named = {str(getattr(each, "address", each)).lower() for each in servers}
    return len(named) < len(servers)


def _transport(server: str | Transport) -> Transport:
    return HttpTransport(server) if isinstance(server, str) else server


def _mapping(answer: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    period = answer.get("period") if isinstance(answer, dict) else None
    if not isinstance(period, int) or not 0 <= period < 1 << 63:
        raise InputError("what the rank server describes itself with is not as it should be.")
    return dict(answer)

"""A person's side: her score stays here; a noised or shared bucket leaves, within a budget.

What it costs her, and what still shows:

- `noise`: each bucket of each topic is noised once and the result kept for ever, so that repeating
  it gives nothing away: k distinct buckets of a topic cost k epsilon, however many periods pass.
  Not hidden at all is the pattern: a kept report is nearly unique, so the server can link one
  person's reports over the periods and sees when her bucket changes and when it comes back.
- `shares`: the servers draw noise anew for each period's sum, so each period costs epsilon.

Both are committed in her ledger before anything is drawn; beyond her budget nothing is sent.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.advisor.rank.description import Description, RankedTopic
from sottovoce.advisor.rank.diary import Diary, Entry
from sottovoce.advisor.rank.estimate import RankEstimate, estimate_rank
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.latest import latest_histogram
from sottovoce.advisor.rank.one_hot import MOVED
from sottovoce.advisor.rank.prime_field import packed
from sottovoce.advisor.rank.quote import Quote
from sottovoce.advisor.rank.shares import split
from sottovoce.advisor.rank.transport import HttpTransport, Transport
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import output_folder
from sottovoce.release.exact import Exact
from sottovoce.release.guarantee import LimitedPrecision
from sottovoce.release.ledger import Account, Ledger, Request

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

    def _kept(self, topic: RankedTopic, entry: Entry) -> list[int]:
        """Her noised report of this bucket: drawn once, from then on the same for ever."""
        noise = self.description.noise(topic.name)

        def draw(path: Path) -> None:
            path.write_bytes(np.array(noise.report(entry.bucket), dtype=np.int8).tobytes())

        stored = self._stored(self._what(topic, 0, entry.bucket), draw)
        return [int(entry) for entry in np.frombuffer(stored, dtype=np.int8)]

    def _shared(self, topic: RankedTopic, period: int, entry: Entry) -> list[str]:
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

    def _request(self, what: str) -> Request:
        guarantee = LimitedPrecision(MOVED, self.description.epsilon, "user")
        return Request(f"{self.description.version[:32]}/{what}", ACCOUNT, guarantee)

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

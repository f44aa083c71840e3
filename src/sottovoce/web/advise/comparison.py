"""Whom a person is compared with, and their reports to a rank server.

The page asks a rank server what everybody may ask, once, when it is started, and tells it nothing
of the person: their scores stay here, and their place is looked up in the histograms.

Reports are their own decision, one topic and one consent at a time. What was reported, and what it
cost, is kept beside their settings for as long as they want: the ledger that replays noise instead
of drawing it again, and the diary of buckets.
"""

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sottovoce.advisor.community import Community
from sottovoce.advisor.crowd import ScoreHistogram, published_histograms
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.advisor.rank.client import (
    DIARY_FILE,
    LEDGER_FILE,
    Quote,
    RankClient,
    latest_histogram,
)
from sottovoce.advisor.rank.description import Description, Transport
from sottovoce.errors import InputError, LedgerError, ParameterError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Space


@dataclass(frozen=True)
class ComparedCommunity:
    """Whom a person is compared with: how to get the others, and what to call them."""

    community: Callable[[AdvisorSetting], Community]
    name: str
    spaces: tuple[Space, ...] = ()
    """The adversary's models, for a community that they bring too."""
    rules: str | None = None
    """The version of a rank server's description: measure, k, m and bucket are then given, so that
    they can only set when to be told."""

    @property
    def is_fixed(self) -> bool:
        """Whether scores can be made in one way only."""
        return self.rules is not None


DEMO = ComparedCommunity(Community.demo, "a simulated community of people who do not exist")


def ask(
    server: Transport, spaces: Sequence[Space], catalogue: Catalogue, *, unpublished: bool = False
) -> ComparedCommunity:
    """The latest histograms of all topics that the server and the catalogue both have.

    ``unpublished``: topics without one are there as well, for who wants to be among the first to
    report; they have nobody to be compared with then.
    """
    description = Description.from_record(server.call("GET", "/description"))
    setting = _setting(description)
    names = [topic.name for topic in catalogue.sensitive if topic.name in description.by_name]
    found = [latest_histogram(server, description, name) for name in names]
    published = [each for each in found if each is not None]
    known = published_histograms(description, published, setting)
    if unpublished:
        known = {name: _empty_histogram(description, name) for name in names} | known
    if not known:
        raise InputError(
            "the rank server has published no histogram of a topic of this catalogue yet."
        )
    community = Community.from_histograms(known, spaces, catalogue, setting)

    def by_setting(wanted: AdvisorSetting) -> Community:
        fitting = replace(setting, thresholds=wanted.thresholds, hysteresis=wanted.hysteresis)
        return community if fitting == community.setting else community.with_setting(fitting)

    return ComparedCommunity(
        by_setting,
        "those who report to the rank server",
        tuple(spaces),
        rules=description.version,
    )


def _empty_histogram(description: Description, topic: str) -> ScoreHistogram:
    edges = description.topic(topic).buckets.edges
    return ScoreHistogram(edges, (0.0,) * len(edges), (0.0,) * len(edges), 0)


def _setting(description: Description) -> AdvisorSetting:
    measures = {topic.measure for topic in description.topics}
    if len(measures) > 1:
        raise InputError(
            "the rank server must rank all topics by one measure; otherwise scores could not be "
            "compared."
        )
    return AdvisorSetting(measures.pop(), description.k, description.m, description.bucket)


FOLDER = "rank-reports"
_FILES = (LEDGER_FILE, DIARY_FILE)
_COMPANIONS = ("", "-wal", "-shm", "-journal")
OWNER_ONLY = 0o700


class Reporting:
    """A person's side of one rank server, or of two in the mode of shares; threads may share it."""

    def __init__(
        self,
        servers: Sequence[str | Transport],
        folder: Path,
        budget: Fraction,
        *,
        admission: str | None = None,
    ) -> None:
        self._servers, self.folder, self._budget = tuple(servers), folder, budget
        self._admission = admission
        self._lock = threading.Lock()
        if self._ledger.exists():
            # A budget that is not the one they began with is refused now, not when they agree.
            with self._client():
                pass

    def quote(self, topic: str, score: float, rules: str | None) -> Quote:
        """What reporting would be and cost; ``rules``: the description their score was made by."""
        with self._client() as client:
            return _check_rules(rules, client.quote(topic, score))

    def report(self, topic: str, score: float, rules: str | None, agreed: str) -> None:
        """Send the report that they ``agreed`` to, or nothing."""
        with self._client() as client:
            _check_rules(rules, client.quote(topic, score))
            client.report(topic, score, agreed=agreed)

    def erase(self) -> None:
        """Delete ledger, diary and kept reports; other files in the folder stay."""
        with self._lock:
            for name in (name + more for name in _FILES for more in _COMPANIONS):
                (self.folder / name).unlink(missing_ok=True)
            shutil.rmtree(self.folder / f"{LEDGER_FILE}.outputs", ignore_errors=True)
            with suppress(OSError):
                self.folder.rmdir()

    @property
    def _ledger(self) -> Path:
        return self.folder / LEDGER_FILE

    @contextmanager
    def _client(self) -> Iterator[RankClient]:
        first, *more = self._servers
        with self._lock:
            client = self._open_client(first, more[0] if more else None)
            try:
                yield client
            finally:
                client.close()

    def _open_client(self, first: str | Transport, second: str | Transport | None) -> RankClient:
        try:
            self.folder.mkdir(OWNER_ONLY, parents=True, exist_ok=True)
            return RankClient(
                first, self.folder, budget=self._budget, second=second, admission=self._admission
            )
        except OSError as error:
            raise InputError(f"cannot write into {self.folder}: {error.strerror}.") from None
        except LedgerError as error:
            raise ParameterError(
                f"the budget in {self.folder} cannot be used ({str(error).rstrip('.')}): give the "
                "--rank-budget that you began with, which holds for ever."
            ) from None


def _check_rules(rules: str | None, quote: Quote) -> Quote:
    if rules is not None and quote.version != rules:
        raise InputError(
            "The rank server's rules have changed since this page was started, so your score is "
            "not what it asks for; start the page again. Nothing was sent."
        )
    return quote

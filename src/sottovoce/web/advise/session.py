"""One person's advisor session: what they brought and try out, and whom they are compared with.

All of it is in memory, but for settings and alerts. The page asks a rank server what everybody may
ask, once, when it is started, and tells it nothing of the person: their scores stay here, and their
place is looked up in the histograms. Reports are their own decision, one topic and one consent at a
time. What was reported, and what it cost, is kept beside their settings for as long as they want:
the ledger that replays noise instead of drawing it again, and the diary of buckets.
"""

import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from sottovoce.advisor.alert_store import AlertStore, delete_store
from sottovoce.advisor.community import Community
from sottovoce.advisor.crowd import ScoreHistogram, published_histograms
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import (
    BEST,
    OWN_AMONG_SIMULATED,
    AdvisorSetting,
    posts_of_table,
)
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
from sottovoce.web.advise.received import KeptFile, ReceivedPosts


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


DEMO = ComparedCommunity(Community.demo, "a simulated community of people who do not exist")


def ask(
    server: Transport, spaces: Sequence[Space], catalogue: Catalogue, *, unpublished: bool = False
) -> ComparedCommunity:
    """The latest histograms of all topics that the server and the catalogue both have.

    ``unpublished``: topics without one are there as well, for who wants to be among the first to
    report; they have nobody to be compared with then.
    """
    description = Description.from_record(server.call("GET", "/description"))
    measures = {topic.measure for topic in description.topics}
    if len(measures) > 1:
        raise InputError(
            "the rank server must rank all topics by the same measure; otherwise nobody can "
            "compare scores."
        )
    setting = AdvisorSetting(measures.pop(), description.k, description.m, description.bucket)
    names = [topic.name for topic in catalogue.sensitive if topic.name in description.by_name]
    found = [latest_histogram(server, description, name) for name in names]
    published = [each for each in found if each is not None]
    known = published_histograms(description, published, setting)
    for name in names if unpublished else ():
        edges = description.topic(name).buckets.edges
        nobody = (0.0,) * len(edges)
        known.setdefault(name, ScoreHistogram(edges, nobody, nobody, 0))
    if not known:
        raise InputError(
            "the rank server has published no histogram of a topic of this catalogue yet."
        )
    community = Community.from_histograms(known, spaces, catalogue, setting)

    def by_setting(wanted: AdvisorSetting) -> Community:
        fitting = replace(setting, thresholds=wanted.thresholds, hysteresis=wanted.hysteresis)
        return community if fitting == community.setting else community.with_setting(fitting)

    name = "those who report to the rank server"
    return ComparedCommunity(by_setting, name, tuple(spaces), rules=description.version)


FOLDER = "rank-reports"
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
        if (folder / LEDGER_FILE).exists():
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
            for name in (LEDGER_FILE, DIARY_FILE):
                delete_store(self.folder / name)
            shutil.rmtree(self.folder / f"{LEDGER_FILE}.outputs", ignore_errors=True)
            with suppress(OSError):
                self.folder.rmdir()

    @contextmanager
    def _client(self) -> Iterator[RankClient]:
        first, *more = self._servers
        with self._lock:
            try:
                self.folder.mkdir(OWNER_ONLY, parents=True, exist_ok=True)
                client = RankClient(
                    first,
                    self.folder,
                    budget=self._budget,
                    second=more[0] if more else None,
                    admission=self._admission,
                )
            except OSError as error:
                raise InputError(f"cannot write into {self.folder}: {error.strerror}.") from None
            except LedgerError as error:
                raise ParameterError(
                    f"the budget in {self.folder} cannot be used ({str(error).rstrip('.')}): give "
                    "the --rank-budget that you began with, which holds for ever."
                ) from None
            try:
                yield client
            finally:
                client.close()


def _check_rules(rules: str | None, quote: Quote) -> Quote:
    if rules is not None and quote.version != rules:
        raise InputError(
            "The rank server's rules have changed since this page was started, so your score is "
            "not what it asks for; start the page again. Nothing was sent."
        )
    return quote


DEMO_MEMBER = "the others of the demo community (you are one of its members, and nobody is real)"


class AdvisorSession:
    """Everything of one person's. Threads may share it; what it hands out never changes."""

    def __init__(
        self, comparison: ComparedCommunity, store: AlertStore, reporting: Reporting | None = None
    ) -> None:
        self.comparison, self._own_store, self.reporting = comparison, store, reporting
        self.path = store.path
        """Where their settings and alerts are kept."""
        self._demo_path = store.path.with_name(f"demo-{store.path.name}")
        self._lock = threading.Lock()
        self.person: Person | None = None
        self.compared_with = comparison.name
        self.waiting: ReceivedPosts | None = None
        """A whole community's posts, until they say which of its members they are."""
        self.kept_file: KeptFile | None = None
        """A file whose columns are still to be chosen."""
        self.received: ReceivedPosts | None = None
        """What they brought, to tell how it was read and what was left out."""
        self.removed: frozenset[int] = frozenset()
        """The posts they have unticked."""
        self.draft = ""

    @property
    def store(self) -> AlertStore:
        """Where their alerts are."""
        in_demo = self.person is not None and self.compared_with == DEMO_MEMBER
        return self._demo_store if in_demo else self._own_store

    @cached_property
    def _demo_store(self) -> AlertStore:
        """Looking at the demo, as somebody else, must not leave alerts among their own."""
        return AlertStore(self._demo_path)

    @property
    def setting(self) -> AdvisorSetting:
        """How they are scored, and when they want to be told."""
        if self.person is not None:
            return self.person.setting
        return _nearest(self.comparison.community, self._own_store.setting()).setting

    def now(self) -> datetime:
        """What a post without a date takes for its time."""
        return self.community().now or datetime.now(UTC)

    def community(self) -> Community:
        """Whom they are compared with unless they bring a whole community."""
        return _nearest(self.comparison.community, self.setting)

    def look_at_demo(self) -> None:
        """Be a member of the demo community who is worth looking at."""
        community = _nearest(Community.demo, self._own_store.setting())
        self._set_person(Person(community, user=community.example), DEMO_MEMBER)

    def bring_mine(self, received: ReceivedPosts) -> None:
        """Their posts, compared with the community at hand."""
        asked = self._own_store.setting()
        community = _nearest(self.comparison.community, asked)
        # By the topics' words where all others are made up.
        if community.simulated and asked.measure == BEST:
            community = community.with_setting(replace(asked, measure=OWN_AMONG_SIMULATED))
        person = Person(community, posts_of_table(received.table))
        self._set_person(person, self.comparison.name, received=received)
        self.keep_file(None)

    def bring_community(self, received: ReceivedPosts) -> None:
        """A whole community's posts; they say next which one they are."""
        if not received.users:
            raise InputError(f"The file has no people left. {received.left_out or ''}")
        if received.users == 1:
            raise InputError(
                "A community has at least 2 members, but all posts of this file are of one person; "
                "choose 'Only mine'."
            )
        self.waiting = received

    def keep_file(self, kept: KeptFile | None) -> None:
        """Keep a file until its columns are chosen, instead of any other."""
        with self._lock:
            if self.kept_file is not None and self.kept_file is not kept:
                self.kept_file.discard()
            self.kept_file = kept

    def choose_member(self, user: str) -> None:
        """They are this member of the community that is waiting."""
        waiting = self.waiting
        if waiting is None:
            raise InputError("There is no file to choose from; bring one first.")
        if not waiting.posts_of(user).num_rows:
            raise InputError("Nobody in the file has this name.")
        topics = self.community().catalogue
        community = _nearest(
            lambda setting: Community.from_posts(
                waiting.table, self.comparison.spaces, topics, setting
            ),
            self._own_store.setting(),
        )
        person = Person(community, user=user)
        self._set_person(person, "the community in your file", received=waiting)
        self.keep_file(None)

    def use(self, setting: AdvisorSetting) -> None:
        """Score by another setting."""
        person = self.person
        at_hand = person is None or self.compared_with == self.comparison.name
        # A rank server's scores can be made in one way only.
        fixed = self.comparison.rules is not None and at_hand
        if fixed and not _same_scores(setting, self.setting):
            raise ParameterError(
                "Measure, k, m and bucket are the rank server's here: other scores could not be "
                "compared with its histograms."
            )
        if person is None:
            self.comparison.community(setting)
            self._own_store.save_setting(setting)
        else:
            changed = person.with_setting(setting)
            self._own_store.save_setting(setting)
            self._set_person(changed, self.compared_with, self.removed, received=self.received)

    def untick(self, shown: Collection[int], kept: Collection[int]) -> frozenset[int]:
        """Of the posts that were shown these are ticked; all that are unticked now."""
        with self._lock:
            ours = frozenset() if self.person is None else {post.id for post in self.person.posts}
            if strangers := len(set(shown) - ours) + len(set(kept) - ours):
                raise ParameterError(f"Posts must be yours, got {strangers} that are not.")
            self.removed = (self.removed - frozenset(shown)) | (frozenset(shown) - frozenset(kept))
            return self.removed

    def may_report(self, topic: str) -> bool:
        """Whether they could report on ``topic``: as themselves, scored as the rank server asks."""
        return (
            self.reporting is not None
            and self.person is not None
            and self.compared_with == self.comparison.name
            and topic in self.person.topics
        )

    def quote(self, topic: str) -> Quote:
        """What a report on ``topic`` would be; nothing is sent."""
        reporting, score = self._find_reportable(topic)
        return reporting.quote(topic, score, self.comparison.rules)

    def report(self, topic: str, agreed: str) -> None:
        """Send the report that they agreed to: that of all their posts, whatever is unticked."""
        reporting, score = self._find_reportable(topic)
        reporting.report(topic, score, self.comparison.rules, agreed)

    def _find_reportable(self, topic: str) -> tuple[Reporting, float]:
        score = None if self.person is None else self.person.standing(topic).score
        if self.reporting is None or score is None:
            raise InputError("There is nothing to report, or nobody to report to.")
        return self.reporting, score

    def erase(self) -> None:
        """Forget everything, also on disk."""
        self.keep_file(None)
        with self._lock:
            self.person = self.waiting = self.received = None
            self.removed, self.draft = frozenset(), ""
            self.compared_with = self.comparison.name
            for store in (self._own_store, self._demo_store):
                store.erase()
            if self.reporting is not None:
                self.reporting.erase()

    def close(self) -> None:
        """Let go of the files; the demo's is of no more use."""
        self.keep_file(None)
        self._own_store.close()
        if self._demo_path.exists():
            self._demo_store.erase()
            self._demo_store.close()
            self._demo_path.unlink()

    def _set_person(
        self,
        person: Person,
        name: str,
        removed: frozenset[int] = frozenset(),
        *,
        received: ReceivedPosts | None = None,
    ) -> None:
        person.standings()
        with self._lock:
            self.received = received
            self.person, self.compared_with, self.removed = person, name, removed
            self.waiting = None
            said = {topic: person.disclosures.of_topic(topic) for topic in person.topics}
            told = {topic: len(each.outright) for topic, each in said.items()}
            # Among made-up people a place by other words than the topic's is nothing to alert of.
            found = [
                one for one in person.standings() if said[one.topic].level or not one.simulated
            ]
            self.store.update(found, person.setting, outright=told)


def _nearest(
    community: Callable[[AdvisorSetting], Community], setting: AdvisorSetting
) -> Community:
    """By this setting or, where its measure is not to be had, by the recommended one."""
    try:
        return community(setting)
    except ParameterError:
        return community(replace(setting, measure=AdvisorSetting.measure))


def _same_scores(one: AdvisorSetting, other: AdvisorSetting) -> bool:
    return replace(one, thresholds=other.thresholds, hysteresis=other.hysteresis) == other


def current_session(request: Request) -> AdvisorSession:
    """The advisor session of this process."""
    session: AdvisorSession = request.app.state.session
    return session


CurrentSession = Annotated[AdvisorSession, Depends(current_session)]

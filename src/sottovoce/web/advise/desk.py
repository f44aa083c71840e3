"""The desk: what one person has brought and tries out. In memory, but for settings and alerts."""

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa

from sottovoce.advisor.alert_store import AlertStore
from sottovoce.advisor.community import Community
from sottovoce.advisor.community_setting import Setting
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import posts_of_table
from sottovoce.advisor.rank.quote import Quote
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Space
from sottovoce.web.advise.arrivals import Arrival
from sottovoce.web.advise.reporting import Reporting


@dataclass(frozen=True)
class Comparison:
    """Whom she is compared with: how to get them, and what to call them."""

    community: Callable[[Setting], Community]
    name: str
    spaces: tuple[Space, ...] = ()
    """The adversary's models, for a community that she brings too."""
    rules: str | None = None
    """The version of a rank server's description: measure, k, m and bucket are then given, so that
    she can only set when to be told."""

    @property
    def fixed(self) -> bool:
        """Whether scores can be made in one way only."""
        return self.rules is not None


DEMO = Comparison(Community.demo, "a simulated community of people who do not exist")
DEMO_MEMBER = "the others of the demo community (you are one of its members, and nobody is real)"


class Desk:
    """Everything that belongs to her. Threads may share it; what it hands out never changes."""

    def __init__(
        self, comparison: Comparison, store: AlertStore, reporting: Reporting | None = None
    ) -> None:
        self.comparison, self._own_store, self.reporting = comparison, store, reporting
        # Looking at the demo must not leave alerts among her own.
        self._demo_store = AlertStore(store.path.with_name(f"demo-{store.path.name}"))
        self._lock = threading.Lock()
        self.person: Person | None = None
        self.compared_with = comparison.name
        self.waiting: Arrival | None = None
        """A whole community's posts, until she says which of its members she is."""
        self.removed: frozenset[int] = frozenset()
        """The posts she has unticked."""
        self.draft = ""

    @property
    def in_demo(self) -> bool:
        """Whether she looks at the demo community, as somebody else."""
        return self.person is not None and self.compared_with == DEMO_MEMBER

    @property
    def store(self) -> AlertStore:
        """Where her alerts are."""
        return self._demo_store if self.in_demo else self._own_store

    @property
    def path(self) -> Path:
        """Where her settings and alerts are kept."""
        return self._own_store.path

    @property
    def setting(self) -> Setting:
        """How she is scored, and when she wants to be told."""
        if self.person is not None:
            return self.person.setting
        stored = self._own_store.setting()
        return self.comparison.community(stored).setting if self.comparison.fixed else stored

    def now(self) -> datetime:
        """What a post without a date takes for its time."""
        return self.community().now or datetime.now(UTC)

    def community(self) -> Community:
        """Whom she is compared with unless she brings a whole community."""
        return _nearest(self.comparison.community, self.setting)

    def look_at_demo(self) -> None:
        """Be a member of the demo community who is worth looking at."""
        community = _nearest(Community.demo, self.setting)
        self._seat(Person(community, user=community.example), DEMO_MEMBER)

    def bring_mine(self, table: pa.Table) -> None:
        """Her posts, compared with the community at hand."""
        community = self.community()
        self._seat(Person(community, posts_of_table(table)), self.comparison.name)

    def bring_community(self, arrival: Arrival) -> None:
        """A whole community's posts; she says next which one she is."""
        if arrival.users <= 1:
            raise InputError(
                "A community has at least 2 members, but all posts of this file are of one person; "
                "choose 'Only mine'."
            )
        self.waiting = arrival

    def be(self, user: str) -> None:
        """She is this member of the community that is waiting."""
        waiting = self.waiting
        if waiting is None:
            raise InputError("There is no file to choose from; bring one first.")
        if not waiting.of(user).num_rows:
            raise InputError("Nobody in the file has this name.")
        topics = self.community().catalogue
        community = _nearest(partial(self._from_posts, waiting.table, topics), self.setting)
        self._seat(Person(community, user=user), "the community in your file")

    def use(self, setting: Setting) -> None:
        """Score by another setting."""
        person = self.person
        if self._fixed and not _same_scores(setting, self.setting):
            raise ParameterError(
                "Measure, k, m and bucket are the rank server's here: other scores could not be "
                "compared with its histograms."
            )
        if person is None:
            self.comparison.community(setting)
        changed = None if person is None else person.with_setting(setting)
        self._own_store.save_setting(setting)
        if changed is not None:
            self._seat(changed, self.compared_with, self.removed)

    def untick(self, shown: Collection[int], kept: Collection[int]) -> frozenset[int]:
        """Of the posts that were shown these are ticked; all that are unticked now."""
        with self._lock:
            ours = frozenset() if self.person is None else {post.id for post in self.person.posts}
            if strangers := len(set(shown) - ours) + len(set(kept) - ours):
                raise ParameterError(f"Posts must be yours, got {strangers} that are not.")
            self.removed = (self.removed - frozenset(shown)) | (frozenset(shown) - frozenset(kept))
            return self.removed

    def may_report(self, topic: str) -> bool:
        """Whether she could report on ``topic``: as herself, scored as the rank server asks."""
        person, at_hand = self.person, self.compared_with == self.comparison.name
        return (
            self.reporting is not None
            and person is not None
            and at_hand
            and topic in person.community.topics
        )

    def quote(self, topic: str) -> Quote:
        """What a report on ``topic`` would be; nothing is sent."""
        reporting, score = self._reported(topic)
        return reporting.quote(topic, score, self.comparison.rules)

    def report(self, topic: str, agreed: str) -> None:
        """Send the report that she agreed to: that of all her posts, whatever is unticked."""
        reporting, score = self._reported(topic)
        reporting.report(topic, score, self.comparison.rules, agreed)

    def _reported(self, topic: str) -> tuple[Reporting, float]:
        score = None if self.person is None else self.person.standing(topic).score
        if self.reporting is None or score is None:
            raise InputError("There is nothing to report, or nobody to report to.")
        return self.reporting, score

    def erase(self) -> None:
        """Forget everything, also on disk."""
        with self._lock:
            self.person = self.waiting = None
            self.removed, self.draft = frozenset(), ""
            self.compared_with = self.comparison.name
            for store in (self._own_store, self._demo_store):
                store.erase()
            if self.reporting is not None:
                self.reporting.erase()

    def close(self) -> None:
        """Let go of the files; the demo's is of no more use."""
        self._demo_store.erase()
        for store in (self._own_store, self._demo_store):
            store.close()
        self._demo_store.path.unlink(missing_ok=True)

    def _seat(self, person: Person, name: str, removed: frozenset[int] = frozenset()) -> None:
        person.standings()
        with self._lock:
            self.person, self.compared_with, self.removed = person, name, removed
            self.waiting = None
            self.store.update(person.standings(), person.setting)

    def _from_posts(self, table: pa.Table, topics: Catalogue, setting: Setting) -> Community:
        return Community.from_posts(table, self.comparison.spaces, topics, setting)

    @property
    def _fixed(self) -> bool:
        at_hand = self.person is None or self.compared_with == self.comparison.name
        return self.comparison.fixed and at_hand


def _nearest(community: Callable[[Setting], Community], setting: Setting) -> Community:
    """By this setting or, where its measure is not to be had, by the default one."""
    try:
        return community(setting)
    except ParameterError:
        return community(replace(setting, measure=Setting.measure))


def _same_scores(one: Setting, other: Setting) -> bool:
    told, slack = other.thresholds, other.hysteresis
    return replace(one, thresholds=told, hysteresis=slack) == other

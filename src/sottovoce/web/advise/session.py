"""One person's advisor session: the posts they brought, and what they try out.

All of it is in memory, but for settings and alerts.
"""

import threading
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa

from sottovoce.advisor.alert_store import AlertStore
from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import (
    BEST,
    OWN_AMONG_SIMULATED,
    AdvisorSetting,
    posts_of_table,
)
from sottovoce.advisor.rank.client import Quote
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.web.advise.comparison import ComparedCommunity, Reporting
from sottovoce.web.advise.received import KeptFile, ReceivedPosts

DEMO_MEMBER = "the others of the demo community (you are one of its members, and nobody is real)"


class AdvisorSession:
    """Everything of one person's. Threads may share it; what it hands out never changes."""

    def __init__(
        self, comparison: ComparedCommunity, store: AlertStore, reporting: Reporting | None = None
    ) -> None:
        self.comparison, self._own_store, self.reporting = comparison, store, reporting
        # Looking at the demo must not leave alerts among their own.
        self._demo_store = AlertStore(store.path.with_name(f"demo-{store.path.name}"))
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
    def in_demo(self) -> bool:
        """Whether they look at the demo community, as somebody else."""
        return self.person is not None and self.compared_with == DEMO_MEMBER

    @property
    def store(self) -> AlertStore:
        """Where their alerts are."""
        return self._demo_store if self.in_demo else self._own_store

    @property
    def path(self) -> Path:
        """Where their settings and alerts are kept."""
        return self._own_store.path

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
        person = Person(self._for_own_posts(), posts_of_table(received.table))
        self._set_person(person, self.comparison.name, received=received)
        self.keep_file(None)

    def bring_community(self, received: ReceivedPosts) -> None:
        """A whole community's posts; they say next which one they are."""
        if not received.users:
            raise InputError(f"Nobody is left in the file. {received.left_out or ''}")
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
        made = partial(self._from_posts, waiting.table, topics)
        community = _nearest(made, self._own_store.setting())
        person = Person(community, user=user)
        self._set_person(person, "the community in your file", received=waiting)
        self.keep_file(None)

    def use(self, setting: AdvisorSetting) -> None:
        """Score by another setting."""
        person = self.person
        if self._is_fixed and not _same_scores(setting, self.setting):
            raise ParameterError(
                "Measure, k, m and bucket are the rank server's here: other scores could not be "
                "compared with its histograms."
            )
        if person is None:
            self.comparison.community(setting)
        changed = None if person is None else person.with_setting(setting)
        self._own_store.save_setting(setting)
        if changed is not None:
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
        person, at_hand = self.person, self.compared_with == self.comparison.name
        return (
            self.reporting is not None
            and person is not None
            and at_hand
            and topic in person.community.topics
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
        self._demo_store.erase()
        for store in (self._own_store, self._demo_store):
            store.close()
        self._demo_store.path.unlink(missing_ok=True)

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

    def _for_own_posts(self) -> Community:
        """Whom their own posts are compared with: by the topics' words where all are made up."""
        asked = self._own_store.setting()
        community = _nearest(self.comparison.community, asked)
        if not community.simulated or asked.measure != BEST:
            return community
        return community.with_setting(replace(asked, measure=OWN_AMONG_SIMULATED))

    def _from_posts(self, table: pa.Table, topics: Catalogue, setting: AdvisorSetting) -> Community:
        return Community.from_posts(table, self.comparison.spaces, topics, setting)

    @property
    def _is_fixed(self) -> bool:
        at_hand = self.person is None or self.compared_with == self.comparison.name
        return self.comparison.is_fixed and at_hand


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

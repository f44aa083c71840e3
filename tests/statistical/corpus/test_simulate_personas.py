"""Personas behave as documented; the control, where they differ in name only, shows none of it."""

from collections.abc import Callable
from datetime import date
from functools import cache

import numpy as np
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters, the_world
from sottovoce.corpus.simulate.write import occurrences, simulate

USERS = 1500
WEEKS = 26
START_DAY = (SimulationParameters().start - date(1970, 1, 1)).days


@cache
def community(*, control: bool = False) -> SimulatedCommunity:
    return simulate(
        SimulationParameters(users=USERS, weeks=WEEKS, control=control, background_documents=1)
    )


@cache
def term_counts(terms: tuple[str, ...], *, control: bool) -> NDArray[np.float64]:
    return occurrences(community(control=control).posts["text"], terms)


def as_floats(values: NDArray[np.int64]) -> NDArray[np.float64]:
    return values.astype(np.float64)


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quotient, or nothing where the whole is too small to speak of shares."""
    return np.where(whole >= 3, part / np.maximum(whole, 1), np.nan)


class Evidence:
    """What can be counted in a community's posts, by persona."""

    def __init__(self, *, control: bool) -> None:
        self.community = community(control=control)
        self.control = control
        self.user = np.asarray(
            pc.index_in(
                self.community.posts["user"], value_set=self.community.truth["user"].unique()
            )
        )
        seconds = np.asarray(self.community.posts["time"].cast("int64")) // 1_000_000
        self.day = seconds // 86_400 - START_DAY
        self.week = self.day // 7

    def per_user(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(self.user, values, USERS).astype(np.float64)

    def role_topics(self, persona: str) -> list[tuple[str, NDArray[np.int64]]]:
        """Each sensitive topic with the users who have this persona on it."""
        truth = self.community.truth
        found = []
        for topic in self.community.parameters.sensitive_topics:
            rows = truth.filter(pc.equal(truth["topic"], topic))
            chosen = np.asarray(pc.equal(rows["persona"], persona))
            found.append((topic, np.flatnonzero(chosen)))
        return found

    def mean(self, persona: str, measure: Callable[[str], NDArray[np.float64]]) -> float:
        """Mean over the persona's users of a measure that depends on their topic."""
        parts = [measure(topic)[users] for topic, users in self.role_topics(persona)]
        return float(np.nanmean(np.concatenate(parts)))

    def plain_direct(self, topic: str) -> NDArray[np.float64]:
        """Unambiguous direct words of a topic, per post."""
        ambiguous = the_world().ambiguous_words
        words = the_world().topics[the_world().topic_number(topic)].direct
        plain = tuple(word for word in words if word not in ambiguous)
        return term_counts(plain, control=self.control)

    def weeks_on_topic(self, topic: str) -> NDArray[np.float64]:
        cells = self.user * WEEKS + self.week
        hits = np.bincount(cells, self.plain_direct(topic), USERS * WEEKS)
        return as_floats((hits.reshape(USERS, WEEKS) > 0).sum(axis=1))

    def share_in_best_week_span(self, topic: str) -> NDArray[np.float64]:
        """Of a user's direct words, the largest share within seven days in a row."""
        days = WEEKS * 7
        cells = self.user * days + self.day
        hits = np.bincount(cells, self.plain_direct(topic), USERS * days).astype(np.float64)
        cumulative = np.cumsum(np.pad(hits.reshape(USERS, days), ((0, 0), (1, 0))), axis=1)
        best = (cumulative[:, 7:] - cumulative[:, :-7]).max(axis=1)
        total = cumulative[:, -1]
        return share(best, total)

    def domain_coverage(self, topic: str) -> NDArray[np.float64]:
        """How many topics of the domain a user names at least three times."""
        world = the_world()
        domain = world.topics[world.topic_number(topic)].domain
        names = [item.name for item in world.topics if item.domain == domain]
        counts = [self.per_user(self.plain_direct(name)) for name in names]
        return as_floats((np.stack(counts) >= 3).sum(axis=0))

    def sibling_share(self, topic: str) -> NDArray[np.float64]:
        """Of the direct words on the topic's domain, the share on its siblings."""
        world = the_world()
        domain = world.topics[world.topic_number(topic)].domain
        names = [item.name for item in world.topics if item.domain == domain]
        total = np.sum([self.per_user(self.plain_direct(name)) for name in names], axis=0)
        own = self.per_user(self.plain_direct(topic))
        return share(total - own, total)

    def directness(self, topic: str) -> NDArray[np.float64]:
        """Direct words as a share of direct and indirect ones."""
        direct = self.per_user(self.plain_direct(topic))
        indirect_words = the_world().topics[the_world().topic_number(topic)].indirect
        indirect = self.per_user(term_counts(indirect_words, control=self.control))
        return direct / np.maximum(direct + indirect, 1)

    def topical_rate(self, topic: str) -> NDArray[np.float64]:
        """Direct words per post."""
        return self.per_user(self.plain_direct(topic)) / self.posts(topic)

    def posts(self, _topic: str) -> NDArray[np.float64]:
        return self.per_user(np.ones(len(self.user)))

    def unevenness(self, _topic: str) -> NDArray[np.float64]:
        """Index of dispersion of weekly post counts, relative to the mean."""
        cells = np.bincount(self.user * WEEKS + self.week, minlength=USERS * WEEKS)
        weekly = cells.reshape(USERS, WEEKS)
        mean = weekly.mean(axis=1)
        excess = (weekly.var(axis=1) - mean) / mean**2
        return np.where(mean >= 1, excess, np.nan)


def afflicted_recur_over_more_weeks_than_the_curious(e: Evidence) -> bool:
    return e.mean("afflicted", e.weeks_on_topic) > 1.8 * e.mean("curious", e.weeks_on_topic)


def curious_write_in_one_burst(e: Evidence) -> bool:
    burst = e.mean("curious", e.share_in_best_week_span)
    return burst > 0.75 and burst > e.mean("afflicted", e.share_in_best_week_span) + 0.25


def professionals_cover_the_domain(e: Evidence) -> bool:
    broad = e.mean("professional", e.domain_coverage)
    return broad > 3 and broad > 1.5 * e.mean("afflicted", e.domain_coverage)


def professionals_post_more_and_more_evenly(e: Evidence) -> bool:
    more = e.mean("professional", e.posts) > 1.4 * e.mean("afflicted", e.posts)
    return more and e.mean("professional", e.unevenness) < 0.5 * e.mean("afflicted", e.unevenness)


def supporters_turn_to_siblings_more_than_the_afflicted(e: Evidence) -> bool:
    return e.mean("supporter", e.sibling_share) > e.mean("afflicted", e.sibling_share) + 0.1


def supporters_recur_over_more_weeks_than_the_curious(e: Evidence) -> bool:
    return e.mean("supporter", e.weeks_on_topic) > 1.8 * e.mean("curious", e.weeks_on_topic)


def afflicted_word_it_less_directly_than_supporters_and_these_than_the_curious(e: Evidence) -> bool:
    afflicted, supporter, curious = (
        e.mean(persona, e.directness) for persona in ("afflicted", "supporter", "curious")
    )
    return afflicted + 0.05 < supporter and supporter + 0.05 < curious


def every_role_names_its_topic_more_than_bystanders(e: Evidence) -> bool:
    roles = ("afflicted", "professional", "curious", "supporter")
    least = min(e.mean(persona, e.topical_rate) for persona in roles)
    return least > 3 * e.mean("bystander", e.topical_rate)


CLAIMS = (
    afflicted_recur_over_more_weeks_than_the_curious,
    curious_write_in_one_burst,
    professionals_cover_the_domain,
    professionals_post_more_and_more_evenly,
    supporters_turn_to_siblings_more_than_the_afflicted,
    supporters_recur_over_more_weeks_than_the_curious,
    afflicted_word_it_less_directly_than_supporters_and_these_than_the_curious,
    every_role_names_its_topic_more_than_bystanders,
)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_persona_behaves_as_documented_and_its_control_does_not(
    claim: Callable[[Evidence], bool],
) -> None:
    assert claim(Evidence(control=False))
    assert not claim(Evidence(control=True))

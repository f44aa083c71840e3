"""Places from a histogram: bounds that hold the true place, and no guess beyond them."""

from datetime import timedelta
from fractions import Fraction

import numpy as np
import pytest
from support.communities import CATALOGUE, MONDAY, FixedSpace, random_posts

from sottovoce.advisor.community import Community
from sottovoce.advisor.crowd import ScoreHistogram, published_histograms
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting, Post
from sottovoce.advisor.rank.description import COVERAGE, Buckets, Description, RankedTopic
from sottovoce.advisor.rank.histogram import Histogram as Published
from sottovoce.advisor.rank.histogram import estimate_rank
from sottovoce.errors import InputError, ParameterError

EDGES = (-1.0, 0.0, 0.25, 0.5, 0.75)
MINE = [
    Post(1, MONDAY, "debt loan"),
    Post(2, MONDAY + timedelta(days=8), "prozac sad tired"),
    Post(3, MONDAY + timedelta(days=20), "baby"),
]


def histograms(scores: dict[str, np.ndarray]) -> dict[str, ScoreHistogram]:
    found = {}
    for topic, values in scores.items():
        counts = np.histogram(values, [*EDGES, np.inf])[0]
        found[topic] = ScoreHistogram.of_counts(EDGES, counts.tolist())
    return found


def all_scores(community: Community) -> dict[str, np.ndarray]:
    setting, state = community.setting, community.state
    assert state is not None
    return {t: setting.how().score(state, t, setting.risk) for t in community.topics}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("measure", ["lda", "lda-dt"])
def test_the_bounds_hold_the_place_among_all_scores(measure: str, seed: int) -> None:
    setting = AdvisorSetting(measure)
    whole = Community.from_posts(random_posts(seed), [FixedSpace()], CATALOGUE, setting)
    coarse = Community.from_histograms(
        histograms(all_scores(whole)), [FixedSpace()], CATALOGUE, setting
    )
    exact, bounded = Person(whole, MINE), Person(coarse, MINE)
    for known, rough in zip(exact.standings(), bounded.standings(), strict=True):
        assert known.score == rough.score
        assert known.users == rough.users
        assert known.low is not None
        assert known.high is not None
        assert rough.low is not None
        assert rough.high is not None
        assert rough.low <= known.low <= known.high <= rough.high
        assert rough.surely is not None
        assert rough.surely <= known.high


def test_a_band_that_the_bounds_leave_open_is_told_as_open() -> None:
    histogram = ScoreHistogram((0.0, 0.5), (90.0, 3.0), (100.0, 20.0), 100)
    low, high = histogram.bounds(np.array([0.6, 0.2]))
    assert low.tolist() == [1, 4]
    assert high.tolist() == [21, 101]


def test_a_score_below_every_edge_may_stand_last() -> None:
    histogram = ScoreHistogram.of_counts((0.0, 0.5), (3, 2))
    low, high = histogram.bounds(np.array([-0.5]))
    assert (low.tolist(), high.tolist()) == ([6], [6])


@pytest.mark.parametrize(
    ("edges", "low", "high", "users"),
    [
        ((), (), (), 3),
        ((0.0, 0.0), (3.0, 1.0), (3.0, 1.0), 3),
        ((0.0, 1.0), (3.0, 2.0), (3.0, 1.0), 3),
        ((0.0, 1.0), (3.0, 1.0), (4.0, 1.0), 3),
        ((0.0,), (1.0, 1.0), (1.0, 1.0), 3),
        ((0.0,), (float("nan"),), (1.0,), 3),
    ],
)
def test_an_impossible_histogram_is_refused(
    edges: tuple[float, ...], low: tuple[float, ...], high: tuple[float, ...], users: int
) -> None:
    with pytest.raises(InputError, match="histogram"):
        ScoreHistogram(edges, low, high, users)


def test_measures_of_word_use_need_the_others_words() -> None:
    one = {"debts": ScoreHistogram.of_counts((0.0,), (3,))}
    with pytest.raises(ParameterError, match="is not available here"):
        Community.from_histograms(one, [FixedSpace()], CATALOGUE, AdvisorSetting("ent"))


def test_only_topics_with_a_histogram_are_told() -> None:
    one = {"debts": ScoreHistogram.of_counts((0.0,), (3,))}
    community = Community.from_histograms(one, [FixedSpace()], CATALOGUE, AdvisorSetting("lda-dt"))
    assert [each.topic for each in Person(community, MINE).standings()] == ["debts"]
    with pytest.raises(InputError, match="at least 1 sensitive topic"):
        Community.from_histograms({}, [FixedSpace()], CATALOGUE, AdvisorSetting("lda-dt"))


def server(measure: str = "lda-dt") -> Description:
    topics = tuple(
        RankedTopic(topic.name, measure, Buckets.even(-1, 1, 8)) for topic in CATALOGUE.sensitive
    )
    return Description("shares", Fraction(1), topics)


def test_what_a_rank_server_publishes_gives_the_place_its_client_estimates() -> None:
    description = server()
    counts = (30.0, 5.0, 41.0, 100.0, 12.0, 9.0, -3.0, 6.0)
    published = [Published(t.name, 1, description.version, 200, counts) for t in description.topics]
    setting = AdvisorSetting("lda-dt")
    found = published_histograms(description, published, setting)
    community = Community.from_histograms(found, [FixedSpace()], CATALOGUE, setting)
    for standing, histogram in zip(Person(community, MINE).standings(), published, strict=True):
        assert standing.score is not None
        bucket = description.topic(standing.topic).buckets.find(standing.score)
        # The places on all topics hold together, so each interval is wider than one alone.
        together = 1 - (1 - COVERAGE) / len(published)
        expected = estimate_rank(histogram, description, bucket, coverage=together)
        alone = estimate_rank(histogram, description, bucket)
        assert expected.high - expected.low > alone.high - alone.low
        assert (standing.low, standing.high) == (expected.low, expected.high + 1)
        assert standing.users == 201


def test_another_measure_or_a_withheld_histogram_tells_nothing() -> None:
    description = server("lda")
    withheld = [Published.withheld(description, "debts", 1)]
    assert published_histograms(description, withheld, AdvisorSetting("lda")) == {}
    with pytest.raises(InputError, match="ranks by lda, the setting by bow-t"):
        published_histograms(description, withheld, AdvisorSetting("bow-t"))

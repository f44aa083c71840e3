"""Every standing is that of assessing the whole community again."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.communities import CATALOGUE, MONDAY, WORDS, FixedSpace, random_posts

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting, Post
from sottovoce.advisor.standing import Standing
from sottovoce.assess.explain import SpaceParts
from sottovoce.assess.explanation import Question, UserPosts
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.ranking import susceptibility, users_at_least_as_exposed
from sottovoce.corpus.schema import POSTS

MEASURES = ("lda", "lda-d", "lda-t", "lda-dt", "bow-dt", "ent", "diff-priv", "ent-present")
HER = "u0"
Place = tuple[str, float | None, int | None, int | None, int]
FEW = settings(max_examples=3, deadline=None)


def has_written(seed: int) -> bool:
    return HER in random_posts(seed)["user"].to_pylist()


seeds = st.integers(0, 2**32 - 1).filter(has_written)


def community_of(posts: pa.Table, measure: str, *, m: int = 2) -> Community:
    setting = AdvisorSetting(measure, m=m)
    return Community.from_posts(posts, [FixedSpace()], CATALOGUE, setting)


def her_rows(posts: pa.Table) -> list[int]:
    """In the order of their times, as she is given them."""
    rows = [row for row, user in enumerate(posts["user"].to_pylist()) if user == HER]
    times = posts["time"].to_pylist()
    return sorted(rows, key=lambda row: times[row])


def assessed(posts: pa.Table, measure: str, user: str, *, m: int = 2) -> list[Place]:
    """The long way: everybody is scored from nothing and ranked."""
    setting = AdvisorSetting(measure, m=m)
    chosen, scoring = plan_scoring(CATALOGUE, [FixedSpace()], (measure,))
    state = scoring.state_of(posts.to_batches(max_chunksize=7))
    row = state.users.row(user)
    found: list[Place] = []
    for topic in CATALOGUE.sensitive:
        scores = chosen[measure].score(state, topic.name, setting.risk)
        if row is None:
            found.append((topic.name, None, None, None, len(state)))
            continue
        low, high = susceptibility(scores)[row], users_at_least_as_exposed(scores)[row]
        found.append((topic.name, float(scores[row]), int(low), int(high), len(state)))
    return found


def told(standings: list[Standing]) -> list[Place]:
    return [(s.topic, s.score, s.low, s.high, s.users) for s in standings]


def row_of(text: str, time: datetime, user: str = HER) -> pa.Table:
    return pa.table([[user], [time], [text]], schema=POSTS)


@pytest.mark.parametrize("measure", MEASURES)
@given(seed=seeds, share=st.floats(0, 1), m=st.integers(1, 5))
@FEW
def test_without_posts_equals_assessing_everybody_without_them(
    measure: str, seed: int, share: float, m: int
) -> None:
    posts = random_posts(seed)
    hers = her_rows(posts)
    chosen = np.random.default_rng(seed).random(len(hers)) < share
    gone = [row for row, out in zip(hers, chosen, strict=True) if out]
    person = Person(community_of(posts, measure, m=m), user=HER)
    ids = [post.id for post, out in zip(person.posts, chosen, strict=True) if out]
    left = posts.take(pa.array(np.delete(np.arange(len(posts)), gone)))
    assert told(person.standings()) == assessed(posts, measure, HER, m=m)
    assert told(person.standings_without(ids)) == assessed(left, measure, HER, m=m)
    if len(ids) < len(hers):
        assert told(person.lacking(ids).standings()) == assessed(left, measure, HER, m=m)


@pytest.mark.parametrize("measure", MEASURES)
@given(seed=seeds, words=st.lists(st.sampled_from(WORDS), max_size=6), week=st.integers(-1, 9))
@FEW
def test_a_draft_equals_assessing_everybody_with_it(
    measure: str, seed: int, words: list[str], week: int
) -> None:
    posts, text = random_posts(seed), " ".join(words)
    time = MONDAY + timedelta(weeks=week, hours=5)
    checked = Person(community_of(posts, measure), user=HER).with_draft(text, time)
    more = pa.concat_tables([posts, row_of(text, time)])
    assert told([topic.after for topic in checked.topics]) == assessed(more, measure, HER)
    for column, topic in enumerate(checked.topics):
        for word in topic.words:
            shorter = " ".join(each for each in words if each != word.word)
            without = pa.concat_tables([posts, row_of(shorter, time)])
            _, score, low, high, _ = assessed(without, measure, HER)[column]
            assert (word.low, word.high) == (low, high)
            assert topic.after.score is not None
            assert score is not None
            assert word.adds == topic.after.score - score > 0


@pytest.mark.parametrize("measure", MEASURES)
@given(seed=seeds)
@FEW
def test_who_is_new_is_added_and_who_is_known_is_replaced(measure: str, seed: int) -> None:
    posts = random_posts(seed)
    others = posts.filter(pa.array([user != HER for user in posts["user"].to_pylist()]))
    mine = [Post(7 * n, MONDAY + timedelta(days=9 * n), WORDS[n]) for n in range(3)]
    written = [row_of(post.text, post.time) for post in mine]
    expected = assessed(pa.concat_tables([others, *written]), measure, HER)
    known = Person(community_of(posts, measure), mine, user=HER)
    new = Person(community_of(others, measure), mine)
    assert told(known.standings()) == told(new.standings()) == expected


@pytest.mark.parametrize("measure", MEASURES)
@given(seed=seeds, m=st.integers(1, 4))
# Of two posts of a week the one without the topic counts more than the one that speaks against it.
@example(seed=41829659, m=4)
@FEW
def test_uncertainty_is_the_range_over_leaving_out_each_post(
    measure: str, seed: int, m: int
) -> None:
    posts = random_posts(seed)
    hers = her_rows(posts)
    if len(hers) < 2:
        return
    person = Person(community_of(posts, measure, m=m), user=HER)
    each = [assessed(posts, measure, HER, m=m)]
    for row in hers:
        left = posts.take(pa.array(np.delete(np.arange(len(posts)), [row])))
        each.append(assessed(left, measure, HER, m=m))
    for column, standing in enumerate(person.standings()):
        found, scores = standing.uncertainty, [float(one[column][1] or 0) for one in each]
        assert found is not None
        assert found.low == min(one[column][2] or 0 for one in each)
        assert found.high == max(one[column][3] or 0 for one in each)
        assert (found.score_low, found.score_high) == (min(scores), max(scores))
        if np.isfinite(scores).all():
            spread = np.sqrt((len(hers) - 1) * np.var(scores[1:]))
            assert found.score_error == pytest.approx(spread, abs=1e-12)
        falls = person.left_out.falls(column, len(hers))
        expected = [0.0 if score == scores[0] else scores[0] - score for score in scores[1:]]
        assert falls.tolist() == expected


@pytest.mark.parametrize("measure", MEASURES)
@given(seed=seeds)
@FEW
def test_a_timeline_repeats_the_assessment_week_by_week(measure: str, seed: int) -> None:
    posts = random_posts(seed)
    person = Person(community_of(posts, measure), user=HER)
    for column, topic in enumerate(person.community.topics):
        found = person.timeline(topic)
        assert sum(found.posts) == len(person.posts)
        for start, score in zip(found.starts, found.scores, strict=True):
            end = datetime(start.year, start.month, start.day, tzinfo=UTC) + timedelta(weeks=1)
            early = [post.time < end for post in person.posts]
            later = [post.id for post, kept in zip(person.posts, early, strict=True) if not kept]
            assert score == person.standings_without(later)[column].score


@pytest.mark.parametrize("measure", ["lda", "lda-d", "lda-t", "lda-dt", "bow-dt"])
@given(seed=seeds)
@FEW
def test_parts_are_those_of_explain(measure: str, seed: int) -> None:
    posts = random_posts(seed)
    person = Person(community_of(posts, measure), user=HER)
    chosen, scoring = plan_scoring(CATALOGUE, [FixedSpace()], (measure,))
    her = UserPosts(HER)
    state = scoring.state_of(her.note_batches(posts.to_batches()))
    for standing in person.standings():
        risk = person.setting.risk
        question = Question(state, scoring, her, standing.topic, chosen[measure], risk)
        expected = SpaceParts(question).interest()
        found = (standing.strength, standing.breadth, standing.persistence)
        assert found == (expected.strength, expected.breadth, expected.persistence)

"""An explanation's numbers are those of scoring everything again."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import Setting
from sottovoce.assess.explain import explain
from sottovoce.assess.explanation import Explanation, Position, Question, UserPosts
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.measures.measure import Measure
from sottovoce.errors import InputError, ParameterError

MEASURES = (
    "lda",
    "lda-d",
    "lda-t",
    "lda-dt",
    "bow-dt",
    "ent",
    "diff-priv",
    "ent-present",
    "keyword-kinds-t",
)
USER, TOPIC = "u0", "depression"


def asked(posts: pa.Table, name: str, measure: Measure | None = None) -> Question:
    chosen, scoring = plan_scoring(CATALOGUE, [FixedSpace()], (name, "ent"))
    her = UserPosts(USER)
    state = scoring.state_of(her.note_batches(posts.to_batches(max_chunksize=7)))
    return Question(state, scoring, her, TOPIC, measure or chosen[name], Setting(m=2))


def explained(
    posts: pa.Table, name: str, without: tuple[int, ...] = ()
) -> tuple[Explanation, Question]:
    question = asked(posts, name)
    return explain(question, without=without, most=100), question


def position_after(question: Question, posts: pa.Table) -> Position:
    return replace(question, state=question.scoring.state_of(posts.to_batches())).position()


def numbers_of(posts: pa.Table) -> list[int]:
    return [i + 1 for i, user in enumerate(posts["user"].to_pylist()) if user == USER]


def without(posts: pa.Table, numbers: tuple[int, ...]) -> pa.Table:
    return posts.take(pa.array(np.delete(np.arange(len(posts)), np.array(numbers) - 1)))


@pytest.mark.parametrize("name", MEASURES)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.1, 0.9))
@settings(max_examples=6, deadline=None)
def test_what_if_equals_rescoring_everybody_without_these_posts(
    name: str, seed: int, share: float
) -> None:
    posts = random_posts(seed)
    hers = numbers_of(posts)
    if len(hers) < 2:
        return
    removed = tuple(hers[: max(1, int(share * len(hers)))])
    found, question = explained(posts, name, removed)
    assert found.without == position_after(question, without(posts, removed))


@pytest.mark.parametrize("name", MEASURES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_what_a_post_adds_is_what_its_removal_takes(name: str, seed: int) -> None:
    posts = random_posts(seed)
    if len(numbers_of(posts)) < 2:
        return
    found, question = explained(posts, name)
    assert {share.number for share in found.posts} == set(numbers_of(posts))
    for share in found.posts[:3]:
        again = without(posts, (share.number,))
        score, left = found.position.score, position_after(question, again).score
        assert score is not None
        assert left is not None
        assert share.adds == pytest.approx(0.0 if score == left else score - left, abs=1e-15)


def test_strength_breadth_and_persistence_make_the_score() -> None:
    for seed in range(5):
        found = explained(random_posts(seed), "lda-dt")[0]
        assert found.interest is not None
        whole = found.interest.persistence - found.interest.breadth
        assert found.position.score == pytest.approx(whole, rel=0, abs=2.0**-40)
        found = explained(random_posts(seed), "lda-d")[0]
        assert found.interest is not None
        whole = found.interest.strength - found.interest.breadth
        assert found.position.score == pytest.approx(whole, rel=0, abs=2.0**-40)


def test_words_are_those_of_the_posts_that_hold_the_score_up() -> None:
    posts = pa.concat_tables([random_posts(2)])
    found = explained(posts, "bow")[0]
    strongest = max(found.posts, key=lambda share: share.strength or 0.0)
    text = posts["text"][strongest.number - 1].as_py()
    assert found.words
    assert {share.word for share in found.words} <= set(text.split())


def test_nobody_is_left_of_a_user_without_posts() -> None:
    posts = random_posts(3)
    found = explained(posts, "bow", tuple(numbers_of(posts)))[0]
    assert found.without is not None
    assert (found.without.score, found.without.rank) == (None, None)
    assert found.without.users == found.position.users - 1


def test_posts_of_others_cannot_be_removed() -> None:
    posts = random_posts(3)
    stranger = next(number for number in range(1, 60) if number not in numbers_of(posts))
    with pytest.raises(ParameterError, match="got 1 that are not"):
        explained(posts, "bow", (stranger,))


def test_all_of_her_posts_are_needed() -> None:
    posts = random_posts(3)
    question, her = asked(posts, "bow"), UserPosts(USER)
    list(her.note_batches(posts.slice(0, 30).to_batches()))
    with pytest.raises(InputError, match="give all files that the state was made from"):
        explain(replace(question, own_posts=her))
    with pytest.raises(InputError, match="the user has no post in these files"):
        explain(replace(question, own_posts=UserPosts(USER)))


def test_who_was_erased_from_the_state_is_not_said_to_have_no_posts() -> None:
    question = asked(random_posts(3), "bow")
    with pytest.raises(InputError, match="but the state does not: .* the user was erased from it"):
        explain(replace(question, state=question.state.drop_user(USER)))


@pytest.mark.parametrize("space", [None, "bow"])
def test_a_post_adds_to_another_packages_measure_that_counts_posts(space: str | None) -> None:
    """Such a measure looks at the number of posts, and may depend on the setting."""
    counting = Measure(lambda state, _topic, setting: setting.m * state.posts.astype(float), space)
    posts = random_posts(3)
    question = asked(posts, "bow", counting)
    found = explain(question)
    assert found.position.score == 2 * len(numbers_of(posts))
    assert {share.adds for share in found.posts} == {2.0}
    assert question.state.posts.sum() == len(posts)

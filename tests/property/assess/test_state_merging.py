"""The state of parts merges to the state of the whole, whatever the parts."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import Scoring, Setting, State, merge_all, rank
from sottovoce.assess.measures.catalogue import MEASURES, plan_scoring
from sottovoce.assess.state import _buckets_kernels as kernels
from sottovoce.assess.state.parts import from_table, to_table
from sottovoce.assess.state.state import merge
from sottovoce.topics import BagOfWords

SEEDS = st.integers(0, 2**32 - 1)
ALL = (*[name for name in MEASURES if not name.startswith(("w2v", "voice"))],)
pytestmark = pytest.mark.kernel


def scoring(kept: int = 3) -> Scoring:
    return plan_scoring(CATALOGUE, [FixedSpace(), BagOfWords()], ALL, kept=kept)[1]


def split(posts: pa.Table, parts: int, seed: int) -> list[pa.Table]:
    """The posts dealt out at random, in random order."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(posts.num_rows)
    shares = np.array_split(order, np.sort(generator.integers(0, posts.num_rows, parts - 1)))
    return [posts.take(pa.array(share)) for share in shares]


def check_parts(seed: int, parts: int, kept: int) -> None:
    posts, made = random_posts(seed), scoring(kept)
    whole = made.state_of(posts.to_batches())
    merged = merge_all([made.state_of(part.to_batches()) for part in split(posts, parts, seed)])
    assert to_table(merged).equals(to_table(whole), check_metadata=True)
    chosen = {name: MEASURES[name] for name in ALL}
    ranks = [rank(state, chosen, setting=Setting(m=kept)).table for state in (whole, merged)]
    assert ranks[0].equals(ranks[1])


@given(seed=SEEDS, kept=st.integers(1, 13))
@settings(max_examples=10, deadline=None)
def test_eight_parts_give_exactly_the_state_and_ranks_of_one_pass(seed: int, kept: int) -> None:
    check_parts(seed, 8, kept)


@given(seed=SEEDS, size=st.integers(1, 61), threads=st.integers(1, 3))
@settings(max_examples=8, deadline=None)
def test_neither_batch_size_nor_threads_change_anything(seed: int, size: int, threads: int) -> None:
    posts, made = random_posts(seed), scoring()
    whole = made.state_of(posts.to_batches())
    cut = made.state_of(posts.combine_chunks().to_batches(max_chunksize=size), threads=threads)
    assert to_table(cut).equals(to_table(whole))


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_merging_is_associative_and_commutative(seed: int) -> None:
    made = scoring(2)
    a, b, c = (made.state_of(part.to_batches()) for part in split(random_posts(seed), 3, seed))
    left, right = merge(merge(a, b), c), merge(a, merge(b, c))
    assert to_table(left).equals(to_table(right))
    assert to_table(merge(a, b)).equals(to_table(merge(b, a)))


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_only_the_number_of_posts_changes_when_posts_are_folded_twice(seed: int) -> None:
    state = scoring(2).state_of(random_posts(seed).to_batches())
    once, twice = to_table(state), to_table(merge(state, state))
    assert twice.drop_columns("posts").equals(once.drop_columns("posts"))
    assert twice["posts"].to_pylist() == [2 * posts for posts in once["posts"].to_pylist()]


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_one_more_week_added_to_a_saved_state_equals_scoring_everything(seed: int) -> None:
    posts, made = random_posts(seed), scoring()
    times = posts["time"].to_numpy()
    new = times >= np.sort(times)[-10]
    saved = to_table(made.state_of(posts.filter(pa.array(~new)).to_batches()))
    state = from_table(saved)
    made.fold(state, posts.filter(pa.array(new)).to_batches())
    assert to_table(state).equals(to_table(made.state_of(posts.to_batches())))


@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_erasing_a_user_equals_never_having_seen_her(seed: int) -> None:
    posts, made = random_posts(seed), scoring()
    user = posts["user"][0].as_py()
    others = posts.filter(pa.array([name != user for name in posts["user"].to_pylist()]))
    erased = made.state_of(posts.to_batches()).drop_user(user)
    assert to_table(erased).equals(to_table(made.state_of(others.to_batches())))


@given(seed=SEEDS, count=st.integers(1, 100))
@settings(max_examples=8, deadline=None)
def test_deleting_posts_from_a_saved_state_equals_never_having_seen_them(
    seed: int, count: int
) -> None:
    posts = random_posts(seed)
    made = plan_scoring(CATALOGUE, [FixedSpace()], ALL, kept=2, posts=True)[1]
    user, times = posts["user"][0].as_py(), posts["time"].cast(pa.int64()).to_numpy()
    hers = np.array([name == user for name in posts["user"].to_pylist()])
    gone = np.isin(times, times[hers][:count]) & hers
    saved = from_table(to_table(made.state_of(posts.to_batches(max_chunksize=9))))
    deleted = saved.without_posts(user, times[gone].tolist())
    wanted = made.state_of(posts.filter(pa.array(~gone)).to_batches())
    assert to_table(deleted).equals(to_table(wanted))


def keep_twice(insert: Callable[..., None]) -> Callable[..., None]:
    """Insertion that forgets to look whether a bucket is there already."""

    def wrong(*arguments: object) -> None:
        buckets, step, strengths = arguments[5:8]
        assert isinstance(buckets, np.ndarray)
        assert isinstance(strengths, np.ndarray)
        rows = np.arange(len(strengths), dtype=np.int32)
        apart = buckets * 1000 + np.repeat(rows, strengths.shape[1] if step else 1)
        insert(*arguments[:5], apart, *arguments[6:])

    return wrong


def test_insertion_that_keeps_a_bucket_twice_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = keep_twice(kernels.insert)
    monkeypatch.setattr("sottovoce.assess.state.buckets.insert", wrong)
    with pytest.raises(AssertionError):
        for seed in range(10):
            check_parts(seed, 8, 3)


def test_states_of_one_input_do_not_merge() -> None:
    state = State(scoring().header)
    state.inputs = frozenset({"a"})
    with pytest.raises(ValueError, match="overlap: 1 of their inputs"):
        merge(state, state)

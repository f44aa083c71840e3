"""Cleaning within scoring: nothing on clean posts, post by post on others, and kept apart."""

import pyarrow as pa
import pytest
from support.communities import random_posts
from support.forum_export import forum_rows

from sottovoce.assess.measures.catalogue import MEASURES
from sottovoce.assess.ranking import rank
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state.state import State, merge
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import InputError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.space import BagOfWords

CATALOGUE = Catalogue(
    (Topic("debts", ("debt", "loan", "bank"), "money", True), Topic("sad", ("sad",), "mind", True))
)
HOW = {"bow-t": MEASURES["bow-t"]}


def scoring(*, clean: bool) -> Scoring:
    return Scoring(CATALOGUE, [BagOfWords()], clean=clean)


def ranks(state: State) -> pa.Table:
    return rank(state, HOW).table


def forum() -> pa.Table:
    rows = [(row[1], row[2], row[4]) for row in forum_rows(400).rows]
    return open_posts(rows).read_all()


def test_on_clean_posts_cleaning_changes_no_bit() -> None:
    posts = random_posts(3, users=20, posts=200)
    cleaned = scoring(clean=True)
    state = cleaned.state_of(posts.to_batches())
    assert ranks(state).equals(ranks(scoring(clean=False).state_of(posts.to_batches())))
    assert cleaned.cleaned is not None
    assert not any(cleaned.cleaned.facts().values())


def test_parts_that_were_cleaned_apart_merge_to_the_whole() -> None:
    posts = forum()
    whole = scoring(clean=True).state_of(posts.to_batches())
    parts = [
        scoring(clean=True).state_of(posts.slice(at, 100).to_batches()) for at in range(0, 400, 100)
    ]
    together = parts[0]
    for part in parts[1:]:
        together = merge(together, part)
    assert ranks(together).equals(ranks(whole))
    assert len(whole) < len(scoring(clean=False).state_of(posts.to_batches()))


def test_a_state_says_whether_it_was_cleaned_and_merges_with_its_like_only() -> None:
    posts = forum().slice(0, 50)
    one, other = (scoring(clean=each).state_of(posts.to_batches()) for each in (True, False))
    assert "clean" not in other.header.to_record()
    assert StateHeader.from_record(one.header.to_record()) == one.header
    with pytest.raises(InputError, match="whether posts were cleaned differ"):
        merge(one, other)

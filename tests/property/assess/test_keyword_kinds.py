"""Keyword kinds: different salient words, in all and by week, exactly, however posts are parted."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.assess import State, merge_all
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.parts import from_table, to_table
from sottovoce.assess.state.words import WordBuckets, check_codes, codes_of
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics import Catalogue, Topic

TOPICS = Catalogue(
    (
        Topic("debts", ("debt", "loan", "owe"), "money", sensitive=True),
        Topic("illness", ("sick", "pill", "loan"), "health", sensitive=True),
    )
)
MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ("keyword-kinds", "keyword-kinds-t")
Row = tuple[str, datetime, str]
texts = st.lists(st.sampled_from(["debt", "loan", "owe", "sick", "pill", "sea"]), max_size=4)
rows_of_posts = st.lists(
    st.tuples(
        st.sampled_from(["ada", "ben", "cyd"]),
        st.integers(-30, 40).map(lambda day: MONDAY + timedelta(days=day)),
        texts.map(" ".join),
    ),
    min_size=1,
    max_size=14,
)


def state_of(rows: list[Row], *, posts: bool = False) -> State:
    scoring = plan_scoring(TOPICS, (), NAMES, posts=posts)[1]
    return scoring.state_of(open_posts(rows))


def scores(state: State, m: int) -> dict[tuple[str, str, str], float]:
    measures = plan_scoring(TOPICS, (), NAMES)[0]
    users = state.users.names().to_pylist()
    return {
        (name, topic, user): value
        for name, measure in measures.items()
        for topic in TOPICS.names
        for user, value in zip(
            users, measure.score(state, topic, Setting(m=m)).tolist(), strict=True
        )
    }


def by_hand(rows: list[Row], m: int) -> dict[tuple[str, str, str], float]:
    found = {}
    for topic in TOPICS:
        used: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for user, time, text in rows:
            week = (time - MONDAY) // timedelta(days=7)
            used[user][week] |= set(topic.words) & set(text.split())
        for user, weeks in used.items():
            kinds = sorted(map(len, weeks.values()), reverse=True)
            found["keyword-kinds", topic.name, user] = float(len(set().union(*weeks.values())))
            found["keyword-kinds-t", topic.name, user] = sum(kinds[:m]) / m
    return found


@given(rows_of_posts, st.integers(1, 4))
def test_they_are_what_counting_by_hand_gives(rows: list[Row], m: int) -> None:
    assert scores(state_of(rows), m) == pytest.approx(by_hand(rows, m), abs=1e-11)


def test_states_with_and_without_words_by_week_do_not_mix() -> None:
    rows = [("ada", MONDAY, "debt"), ("ben", MONDAY, "loan")]
    plain = plan_scoring(TOPICS, (), NAMES[:1])[1].state_of(open_posts(rows))
    with pytest.raises(InputError, match="words by time bucket differ"):
        merge_all([state_of(rows), plain])
    measures = plan_scoring(TOPICS, (), NAMES)[0]
    with pytest.raises(ParameterError, match="such as keyword-kinds-t"):
        measures["keyword-kinds-t"].score(plain, "debts", Setting())


@pytest.mark.parametrize("code", [(3, 6), (2**31, 0), (-(2**31) - 1, 0)])
def test_codes_that_name_nothing_are_refused(code: tuple[int, int]) -> None:
    codes = np.array([code[0]], np.int64) * (1 << 24) + code[1]
    with pytest.raises(ValueError, match="no word and bucket"):
        check_codes(codes, 6)
    state = state_of([("ada", MONDAY, "debt"), ("ben", MONDAY, "loan")])
    table = to_table(state)
    place = table.column_names.index("words.buckets")
    lists = pa.array([codes.tolist()] * 2, pa.large_list(pa.int64()))
    wrong = table.set_column(place, "words.buckets", lists)
    with pytest.raises(InputError):
        from_table(wrong)


def test_pairs_are_joined_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.assess.state.words._PENDING", 10)
    kept = WordBuckets()
    for _ in range(50):
        kept.add(np.zeros(7, np.int64), codes_of(np.arange(7, dtype=np.int32), np.arange(7)))
        assert kept._waiting <= 10
    assert len(kept) == 7

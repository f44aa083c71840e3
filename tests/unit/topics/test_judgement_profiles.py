"""Profiles are shown in order under codes, and votes on them become a truth."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from sottovoce.corpus.read.corpus import open_posts, read_truth
from sottovoce.corpus.schema import POSTS, TRUTH
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.judgements.profiles import (
    MOST_CHARACTERS,
    Profile,
    coded_profiles,
    judged_truth,
    load_key,
    posts_in_order,
    profile_sheet,
    save_key,
    sensitive_users,
)
from sottovoce.topics.judgements.votes import Vote


def table(*rows: tuple[str, int, str]) -> pa.Table:
    users, days, texts = zip(*rows, strict=True)
    times = [datetime(2024, 1, day, tzinfo=UTC) for day in days]
    return pa.table([pa.array(users), pa.array(times), pa.array(texts)], schema=POSTS)


POSTED = open_posts(table(("ann", 3, "later"), ("bob", 1, "other"), ("ann", 2, "=sooner")))


def test_posts_are_shown_oldest_first_under_a_code_that_tells_nobody() -> None:
    profiles = coded_profiles([("ann", "hiv"), ("bob", "hiv"), ("ann", "hiv")])
    assert len(profiles) == 2
    rows = profile_sheet(profiles, posts_in_order(POSTED, ["ann", "bob"]), judges=1)
    ann = next(row for row in rows if row["item"] == profiles[0].item)
    assert ann["posts"] == "[2024-01-02] =sooner\n[2024-01-03] later"
    assert "concerned by: hiv" in str(ann["question"])
    assert "ann" not in str(rows)
    assert coded_profiles([("ann", "hiv")])[0].item != profiles[0].item


def test_each_judge_has_every_profile_in_an_order_of_her_own() -> None:
    profiles = coded_profiles([("ann", f"topic {number}") for number in range(8)])
    rows = profile_sheet(profiles, posts_in_order(POSTED, ["ann"]), judges=3, seed=1)
    orders = [[row["item"] for row in rows if row["judge"] == f"judge-{n}"] for n in (1, 2, 3)]
    assert all(set(order) == {profile.item for profile in profiles} for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_a_long_profile_goes_on_in_the_next_row_and_loses_nothing() -> None:
    text = " ".join(f"word{number}" for number in range(8000))
    posted = open_posts(table(("ann", 1, text)))
    profiles = coded_profiles([("ann", "hiv")])
    rows = profile_sheet(profiles, posts_in_order(posted, ["ann"]), judges=1)
    assert [(row["part"], row["parts"]) for row in rows] == [(1, 3), (2, 3), (3, 3)]
    assert "".join(str(row["posts"]) for row in rows) == f"[2024-01-01] {text}"
    assert all(len(str(row["posts"])) <= MOST_CHARACTERS for row in rows)
    assert [row["sensitive"] == "" for row in rows] == [False, False, True]


def test_a_user_without_posts_is_not_judged() -> None:
    with pytest.raises(InputError, match="1 of 2 users to be judged have no post"):
        posts_in_order(POSTED, ["ann", "cyd"])
    with pytest.raises(ParameterError, match="at least 1 profile"):
        coded_profiles([])
    with pytest.raises(ParameterError, match="judges must be"):
        profile_sheet([], {}, judges=-1)


def test_the_key_is_private_and_read_again(tmp_path: Path) -> None:
    profiles = coded_profiles([("ann", "hiv")])
    path = tmp_path / "key.json"
    save_key(path, profiles)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_key(path) == profiles


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"profiles": [1]}',
        '{"format": "other", "profiles": []}',
        json.dumps({"format": "sottovoce-profile-key-1", "profiles": [{"item": 1}]}),
        json.dumps(
            {
                "format": "sottovoce-profile-key-1",
                "profiles": [{"item": 1, "user": "a", "topic": "b"}],
            }
        ),
    ],
)
def test_what_is_no_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "key.json"
    path.write_text(content)
    with pytest.raises(InputError, match="key"):
        load_key(path)


PROFILES = [Profile("p1", "ann", "hiv"), Profile("p2", "bob", "hiv"), Profile("p3", "ann", "debts")]


def ballots(item: str, yes: int, judges: int = 5) -> list[Vote]:
    return [Vote(f"j{judge}", item, judge < yes, place="here") for judge in range(judges)]


def test_the_grade_is_the_mean_vote_and_a_majority_makes_a_user_sensitive() -> None:
    votes = ballots("p1", 3) + ballots("p2", 2) + ballots("p3", 2, 4)
    truth = judged_truth(votes, PROFILES)
    assert truth.schema == TRUTH
    assert truth.select(["user", "topic", "sensitive", "grade"]).to_pylist() == [
        {"user": "ann", "topic": "hiv", "sensitive": True, "grade": 0.6},
        {"user": "bob", "topic": "hiv", "sensitive": False, "grade": 0.4},
        {"user": "ann", "topic": "debts", "sensitive": False, "grade": 0.5},
    ]
    assert read_truth(truth).num_rows == 3


def test_table_3_counts_sensitive_users_by_topic_and_in_total() -> None:
    truth = judged_truth(ballots("p1", 5) + ballots("p2", 0) + ballots("p3", 4), PROFILES)
    assert sensitive_users(truth) == [
        {"topic": "hiv", "sensitive": 1, "judged": 2},
        {"topic": "debts", "sensitive": 1, "judged": 1},
        {"topic": "TOTAL", "sensitive": 2, "judged": 3},
    ]


def test_votes_on_profiles_that_the_key_lacks_are_refused() -> None:
    with pytest.raises(InputError, match="5 votes are on profiles .* the first: here"):
        judged_truth(ballots("p9", 1), PROFILES)
    with pytest.raises(ParameterError, match="threshold"):
        judged_truth(ballots("p1", 1), PROFILES, threshold=1.0)

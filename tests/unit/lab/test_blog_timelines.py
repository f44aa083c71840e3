"""The study on real timelines splits people once, leaves label days out, and samples fairly."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sottovoce_lab.assess.blogs import _people as people
from sottovoce_lab.assess.blogs._people import (
    Selection,
    Timelines,
    read_timelines,
    sample_posts,
    select,
)

from sottovoce.errors import InputError, ParameterError

MONDAY = date(2004, 1, 5)
SPLIT = {
    "a": "test",
    "b": "test",
    "c": "test",
    "d": "development",
    "e": "test",
    "f": "development",
    "ann": "development",
    "bob": "development",
}


def post(user: str, day: int, label: str | None = None, **more: object) -> dict[str, object]:
    return {
        "user": user,
        "time": MONDAY + timedelta(days=day),
        "text": f"words of day {day}",
        "label": None,
        "label_post": label,
        "gender": "female",
        **more,
    }


def read(folder: Path, posts: list[dict[str, object]], **options: str) -> Timelines:
    path = folder / "posts.parquet"
    pq.write_table(pa.Table.from_pylist(posts), path)
    return read_timelines(path, "all", **options)


def timeline(user: str, days: int, label: str | None = None) -> list[dict[str, object]]:
    return [post(user, day, label=None) | {"label": label} for day in range(days)]


def test_the_split_never_changes() -> None:
    found = {name: people.half_of(name) for name in ("a", "b", "c", "d", "e", "f", "ann", "bob")}
    assert found == SPLIT


def test_a_half_holds_its_own_users_and_no_other(tmp_path: Path) -> None:
    posts = [post(f"u{number}", day) for number in range(30) for day in range(2)]
    pq.write_table(pa.Table.from_pylist(posts), tmp_path / "p.parquet")
    users = {
        half: set(read_timelines(tmp_path / "p.parquet", half).users) for half in people.HALVES
    }
    assert not users["development"] & users["test"]
    assert users["development"] | users["test"] == users["all"]
    assert all(people.half_of(user) == "test" for user in users["test"])


def test_an_unknown_half_is_refused() -> None:
    with pytest.raises(ParameterError, match="development, test, all"):
        people.checked_half("both")


def test_all_posts_of_a_label_day_are_left_out_and_of_that_user_only(tmp_path: Path) -> None:
    posts = [
        *timeline("a", 12, "debt"),
        *timeline("b", 12),
        post("a", 3, "debt;drugs") | {"label": "debt"},
        post("b", 3, "drugs"),
    ]
    timelines = read(tmp_path, posts)
    chosen = select(timelines, "debt")
    left = {(timelines.users[timelines.user[row]], timelines.day[row]) for row in chosen.posts}
    labelled = (MONDAY + timedelta(days=3) - date(1970, 1, 1)).days
    assert ("a", labelled) not in left
    assert ("b", labelled) in left
    assert len(chosen.posts) == 11 + 13
    assert chosen.afflicted.tolist() == [True, False]


def test_short_timelines_are_not_ranked_and_label_days_count_for_nothing(tmp_path: Path) -> None:
    posts = [
        *timeline("a", 10, "debt"),
        *timeline("b", 9),
        *timeline("c", 10),
        *timeline("d", 9, "debt"),
        post("d", 20, "debt") | {"label": "debt"},
    ]
    timelines = read(tmp_path, posts)
    chosen = select(timelines, "debt")
    assert [timelines.users[user] for user in chosen.users] == ["a", "c"]
    assert np.bincount(chosen.writer).tolist() == [10, 10]


def test_only_women_are_ranked_for_pregnancy(tmp_path: Path) -> None:
    posts = [
        *(row | {"gender": "male"} for row in timeline("a", 10, "pregnancy;debt")),
        *timeline("b", 10),
        *timeline("c", 10, "pregnancy"),
    ]
    timelines = read(tmp_path, posts)
    assert [timelines.users[u] for u in select(timelines, "pregnancy").users] == ["b", "c"]
    assert len(select(timelines, "debt").users) == 3


def test_labels_of_another_column_make_their_users(tmp_path: Path) -> None:
    posts = [*timeline("a", 12), *timeline("b", 12, "debt")]
    for row in posts:
        row["mine"] = "divorce" if row["user"] == "a" and row["time"] == MONDAY else ""
    timelines = read(tmp_path, posts, labels_column="mine")
    assert timelines.user_labels == (frozenset({"divorce"}), frozenset())
    assert select(timelines, "divorce").posts.size == 11 + 12


def test_a_topic_without_both_kinds_of_users_is_refused(tmp_path: Path) -> None:
    timelines = read(tmp_path, [*timeline("a", 12), *timeline("b", 12)])
    with pytest.raises(InputError, match="'debt' must have users with its label"):
        select(timelines, "debt")


def test_missing_columns_and_files_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": ["a"], "time": [MONDAY]}), tmp_path / "p.parquet")
    with pytest.raises(InputError, match="must have the columns text, label_post"):
        read_timelines(tmp_path / "p.parquet", "all")
    with pytest.raises(InputError, match="as Parquet"):
        read_timelines(tmp_path / "none.parquet", "all")


def random_selection() -> Selection:
    writer = np.repeat(np.arange(40), np.random.default_rng(0).integers(10, 30, 40))
    posts = np.arange(100, 100 + writer.size)
    return Selection("debt", np.arange(40), np.arange(40) < 5, posts, writer)


def test_a_sample_has_the_same_number_of_posts_of_every_user() -> None:
    selection = random_selection()
    chosen = sample_posts(selection, 10, seed=4)
    assert np.bincount(selection.writer[chosen], minlength=40).tolist() == [10] * 40
    assert len(np.unique(chosen)) == chosen.size
    assert (np.diff(chosen) > 0).all()


def test_samples_repeat_by_seed_and_every_post_has_its_turn() -> None:
    selection = random_selection()
    first = sample_posts(selection, 10, seed=1)
    np.testing.assert_array_equal(first, sample_posts(selection, 10, seed=1))
    assert (first != sample_posts(selection, 10, seed=2)).any()
    drawn = np.zeros(selection.posts.size)
    for seed in range(400):
        drawn[sample_posts(selection, 10, seed)] += 1
    expected = 400 * 10 / np.bincount(selection.writer)[selection.writer]
    spread = np.sqrt(np.maximum(expected * (1 - expected / 400), 1e-9))
    assert (np.abs(drawn - expected) < 5 * spread + 1e-6).all()

"""The four files: same bytes for the same parameters, all or none, truth kept private."""

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sottovoce.corpus.schema import POSTS
from sottovoce.corpus.simulate.parameters import SimulationParameters, difficulty_named
from sottovoce.corpus.simulate.write import occurrences, r_precision, write_community
from sottovoce.corpus.simulate.write import simulate as simulate_community
from sottovoce.errors import InputError

SMALL = SimulationParameters(users=60, weeks=3, background_documents=50)
FILES = ("posts.parquet", "truth.parquet", "background.parquet", "topics.toml")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_same_parameters_give_the_same_bytes(tmp_path: Path) -> None:
    write_community(tmp_path / "a", SMALL)
    write_community(tmp_path / "b", SMALL)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert set(contents(tmp_path / "a")) == set(FILES)


def test_another_seed_gives_other_posts_truth_and_background(tmp_path: Path) -> None:
    write_community(tmp_path / "a", SMALL)
    write_community(tmp_path / "b", replace(SMALL, seed=1))
    first, second = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert [name for name in FILES if first[name] == second[name]] == ["topics.toml"]


def test_summary_counts_what_was_written(tmp_path: Path) -> None:
    summary = write_community(tmp_path, SMALL)
    posts, truth, background = (pq.read_table(tmp_path / name) for name in FILES[:3])
    assert summary.posts == posts.num_rows
    assert summary.background_documents == background.num_rows == 50
    assert sum(summary.personas.values()) == summary.users == 60
    assert truth.num_rows == 60 * len(summary.sensitive_topics)
    personas = truth["persona"].to_pylist()
    assert personas.count("curious") == summary.personas["curious"]


def test_posts_have_the_schema_of_posts_and_are_sorted_by_time_then_user(tmp_path: Path) -> None:
    write_community(tmp_path, SMALL)
    posts = pq.read_table(tmp_path / "posts.parquet")
    assert posts.schema == POSTS
    keys = list(zip(posts["time"].to_pylist(), posts["user"].to_pylist(), strict=True))
    assert keys == sorted(keys)
    assert keys[0][0] >= datetime(2024, 1, 1, tzinfo=UTC)
    assert keys[-1][0] < datetime(2024, 1, 22, tzinfo=UTC)


def test_truth_has_one_row_per_user_and_sensitive_topic(tmp_path: Path) -> None:
    write_community(tmp_path, SMALL)
    truth = pq.read_table(tmp_path / "truth.parquet")
    assert truth.schema.types == [pa.string(), pa.string(), pa.string(), pa.bool_(), pa.float64()]
    pairs = list(zip(truth["user"].to_pylist(), truth["topic"].to_pylist(), strict=True))
    assert len(set(pairs)) == len(pairs) == 300
    with_role = truth.filter(pc.not_equal(truth["persona"], "bystander"))
    roles = with_role["user"].to_pylist()
    assert len(set(roles)) == len(roles)


def test_grades_are_ordered_by_persona_and_only_the_afflicted_are_sensitive() -> None:
    rows = simulate_community(replace(SMALL, users=1000)).truth.to_pylist()
    grades = {
        persona: [row["grade"] for row in rows if row["persona"] == persona]
        for persona in ("bystander", "professional", "curious", "supporter", "afflicted")
    }
    means = [float(np.mean(values)) for values in grades.values()]
    assert means == sorted(means)
    assert max(grades["bystander"]) == 0
    assert 0.6 <= min(grades["afflicted"]) < 0.7
    assert 0.9 < max(grades["afflicted"]) <= 1.0
    assert max(grades["supporter"]) < min(grades["afflicted"])
    assert all(row["sensitive"] == (row["persona"] == "afflicted") for row in rows)


def test_only_the_owner_can_read_the_truth(tmp_path: Path) -> None:
    write_community(tmp_path, SMALL)
    assert (tmp_path / "truth.parquet").stat().st_mode & 0o777 == 0o600


def test_topics_file_is_toml_with_twenty_words_a_topic(tmp_path: Path) -> None:
    write_community(tmp_path, replace(SMALL, sensitive_topics=("hiv", "anxiety")))
    topics = tomllib.loads((tmp_path / "topics.toml").read_text())["topic"]
    assert {topic["name"] for topic in topics if topic["sensitive"]} == {"hiv", "anxiety"}
    assert all(set(topic) == {"name", "domain", "sensitive", "words"} for topic in topics)
    assert all(len(topic["words"]) == 20 for topic in topics)


@pytest.mark.parametrize("failing_call", [1, 2, 3])
def test_a_failed_write_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_call: int
) -> None:
    write_community(tmp_path, SMALL)
    before = contents(tmp_path)
    write, calls = pq.write_table, []

    def failing(table: pa.Table, path: Path, **options: str) -> None:
        calls.append(path)
        if len(calls) == failing_call:
            raise OSError(28, "No space left on device")
        write(table, path, **options)

    monkeypatch.setattr(pq, "write_table", failing)
    with pytest.raises(InputError, match="No space left"):
        write_community(tmp_path, replace(SMALL, seed=9))
    assert contents(tmp_path) == before


def test_background_depends_on_neither_users_nor_difficulty() -> None:
    harder = replace(SMALL, users=80, difficulty=difficulty_named("very-hard"))
    assert simulate_community(SMALL).background == simulate_community(harder).background


def test_background_speaks_of_every_topic() -> None:
    text = " ".join(simulate_community(SMALL).background["text"].to_pylist()).lower()
    assert all(
        any(word in text for word in topic.words) for topic in simulate_community(SMALL).topics
    )


def test_control_draws_the_same_labels_and_other_posts() -> None:
    plain, control = (simulate_community(replace(SMALL, control=flag)) for flag in (False, True))
    assert plain.truth == control.truth
    assert plain.posts != control.posts


@pytest.mark.parametrize(
    ("texts", "phrases", "expected"),
    [
        (["Low, low. LOW!", "lower"], ("low",), [3, 0]),
        (["a panic attack", "panic", "attack panic"], ("panic attack",), [1, 0, 0]),
        (["then panic", "attack again"], ("panic attack",), [0, 0]),
        (["ends in panic"], ("panic attack",), [0]),
        (["hit run..."], ("hit run", "run"), [2]),
        (["nothing here"], ("absent", "here absent"), [0]),
    ],
)
def test_occurrences_are_counted_within_a_post(
    texts: list[str], phrases: tuple[str, ...], expected: list[int]
) -> None:
    counts = occurrences(pa.chunked_array([texts]), phrases)
    assert counts.tolist() == expected


@pytest.mark.parametrize(
    ("scores", "relevant", "expected"),
    [
        ([3, 2, 1, 0], [1, 1, 0, 0], 1.0),
        ([0, 1, 2, 3], [1, 1, 0, 0], 0.0),
        ([1, 1, 1, 1], [1, 1, 0, 0], 0.5),
        ([2, 1, 1, 0], [1, 1, 0, 0], 0.75),
        ([1, 2, 3], [0, 0, 0], 0.0),
    ],
)
def test_r_precision_shares_ties_out(
    scores: list[float], relevant: list[int], expected: float
) -> None:
    assert r_precision(np.array(scores), np.array(relevant, dtype=bool)) == pytest.approx(expected)

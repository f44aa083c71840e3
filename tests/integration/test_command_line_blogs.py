"""From a background to voice-t ranks, and the study on timelines, from the command line."""

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sottovoce_lab.assess.blogs._people import half_of
from support.shown import Run

TOPICS = """
[[topic]]
name = "debt"
domain = "money"
sensitive = true
words = ["loan", "debt"]

[[topic]]
name = "garden"
domain = "money"
sensitive = true
words = ["roses", "soil"]
"""
OWN = {"debt": "i worry about my loan and debt", "garden": "i dig my soil for my roses gladly"}
OTHERS = ("the bank has a loan for a house", "roses need soil and the sun", "the tea was warm")
PLAIN = ("we had warm tea in town", "the train was late again today", "dinner with friends at home")


def background(folder: Path) -> Path:
    texts = [text for text in (*OWN.values(), *OTHERS) for _ in range(40)]
    pq.write_table(pa.table({"text": texts * 2}), folder / "background.parquet")
    return folder / "background.parquet"


def timelines(folder: Path, users: int = 60) -> Path:
    """One in four has a topic and hints at it without its words."""
    rng = np.random.default_rng(0)
    hints = {"debt": "i worry and worry", "garden": "i dig gladly"}
    rows = []
    for number in range(users):
        topic = ("debt", "garden", None, None, None, None, None, None)[number % 8]
        for day in range(14):
            hint = topic is not None and rng.random() < 0.4
            text = hints[topic] if topic and hint else str(rng.choice(PLAIN))
            says = OWN[topic] if topic and day == 13 else text
            rows.append(
                {
                    "user": f"u{number}",
                    "time": date(2004, 1, 5) + timedelta(days=7 * day),
                    "text": says,
                    "told": topic if topic and day == 13 else "",
                }
            )
    pq.write_table(pa.Table.from_pylist(rows), folder / "timelines.parquet")
    return folder / "timelines.parquet"


@pytest.fixture
def voice(tmp_path: Path, run: Run) -> Path:
    code, out, _ = run(
        "topics", "train", background(tmp_path), "--space", "voice", "--out", tmp_path / "voice",
        "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["space"] == "voice"
    (tmp_path / "topics.toml").write_text(TOPICS)
    return tmp_path / "voice"


def test_voice_t_ranks_those_who_hint_first_however_the_posts_are_cut(
    tmp_path: Path, voice: Path, run: Run
) -> None:
    posts = pq.read_table(timelines(tmp_path)).select(["user", "time", "text"])
    ranks = {}
    for name, parts in (("whole", [posts]), ("parts", [posts[:300], posts[300:]])):
        for part in parts:
            pq.write_table(part, tmp_path / "part.parquet")
            code, _, error = run(
                "assess", tmp_path / "part.parquet", "--model", voice, "--topics",
                tmp_path / "topics.toml", "--measure", "voice-t", "--state",
                tmp_path / f"{name}.state", "--out", tmp_path / f"{name}.parquet",
            )  # fmt: skip
            # The second part is of other people at the same times, which may be posts again.
            expected = "" if part is parts[0] else "WARNING: 540 OF 540 POSTS ARE NO LATER"
            assert (code, error[: len(expected) or None]) == (0, expected)
        found = pq.read_table(tmp_path / f"{name}.parquet").to_pylist()
        ranks[name] = sorted(found, key=lambda row: (row["topic"], row["user"]))
    assert ranks["whole"] == ranks["parts"]
    first = {row["user"] for row in ranks["whole"] if row["topic"] == "debt" and row["rank"] <= 8}
    assert len(first & {f"u{number}" for number in range(0, 60, 8)}) == 8


def test_the_study_judges_every_measure_on_other_topics_and_labels(
    tmp_path: Path, voice: Path, run: Run
) -> None:
    models = [voice]
    for space, size in (("lda", ("--topics", 4)), ("w2v", ("--dimensions", 8))):
        code, _, _ = run(
            "topics", "train", tmp_path / "background.parquet", "--space", space, *size,
            "--iterations", 5, "--workers", 1, "--out", tmp_path / space,
        )  # fmt: skip
        assert code == 0
        models.append(tmp_path / space)
    code, out, error = run(
        "study", "assess-blogs", "--quick", "--half", "all", "--posts", timelines(tmp_path),
        "--topics", tmp_path / "topics.toml", "--labels-column", "told",
        *(part for model in models for part in ("--model", model)), "--json",
    )  # fmt: skip
    assert (code, error) == (0, "")
    rows = json.loads(out)
    pooled = {
        row["measure"]: row
        for row in rows
        if row["topic"] == "all topics" and row["ranked_by"] == "ten posts"
    }
    assert len(pooled) == 14 + 6 + 2 + 7
    assert pooled["voice-t"]["precision_top_10"] == 1.0
    assert pooled["voice-t"]["map"] > 0.9
    # Their words were left out with the days of the labels, so counting these finds nobody.
    assert pooled["keywords"]["map"] == pytest.approx(pooled["random"]["map"])
    assert pooled["voice-t"]["p_by_words"] < 0.05
    assert {row["afflicted"] for row in rows if row["topic"] == "debt"} == {8}


def test_a_half_is_for_this_study_only_and_must_exist(tmp_path: Path, run: Run) -> None:
    code, _, error = run("study", "assess-table-5", "--half", "test")
    assert (code, "takes no --half" in error) == (2, True)
    code, _, error = run("study", "assess-blogs", "--half", "first")
    assert (code, "development, test, all" in error) == (2, True)


def test_the_halves_of_a_made_up_community_are_both_there() -> None:
    assert {half_of(f"u{number}") for number in range(60)} == {"development", "test"}

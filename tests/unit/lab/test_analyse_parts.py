"""A study of hours goes on where it was stopped: what is done is not done again."""

import json
from pathlib import Path

import pytest
from sottovoce_lab.release import analyse_topics
from sottovoce_lab.release.analyse_topics import DrawnCorpus, made_up_topics, topic_rows
from sottovoce_lab.release.parts import PartStore, Values

import sottovoce

ASKED: dict[str, str | int | float | None] = {
    "reader": "topics",
    "data": "news, all",
    "rate": 0.5,
    "topics": None,
    "seed": 1,
}
FOUND: Values = {"jaccard": {"chosen": 0.25}}


class Counted:
    """A computation that says how often it was run."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self) -> Values:
        self.runs += 1
        return FOUND


def test_what_is_done_is_read_and_not_computed_again(tmp_path: Path) -> None:
    store, compute = PartStore.open_beside(tmp_path), Counted()
    assert [store.values(ASKED, compute) for _ in range(3)] == [FOUND] * 3
    assert compute.runs == 1
    (kept,) = (tmp_path / "parts").iterdir()
    assert kept.name == "topics_news-all_0.5_1.json"
    assert kept.stat().st_mode & 0o077 == 0
    content = json.loads(kept.read_text())
    assert content["parameters"]["version"] == sottovoce.__version__
    assert content["parameters"]["rate"] == 0.5
    assert content["seconds"] >= 0
    assert content["processor_seconds"] >= 0


@pytest.mark.parametrize("left", ['{"parameters": {}, "values": {}}', "{", "[1]", ""])
def test_a_file_of_something_else_is_computed_again(tmp_path: Path, left: str) -> None:
    store, compute = PartStore.open_beside(tmp_path), Counted()
    store.values(ASKED, compute)
    next((tmp_path / "parts").iterdir()).write_text(left)
    assert store.values(ASKED, compute) == FOUND
    assert compute.runs == 2


def test_another_version_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, compute = PartStore.open_beside(tmp_path), Counted()
    store.values(ASKED, compute)
    monkeypatch.setattr(sottovoce, "__version__", "0.0")
    store.values(ASKED, compute)
    assert compute.runs == 2


def test_a_run_that_was_stopped_goes_on_with_the_seeds_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def stopping(_corpus: object, _rate: float, seed: int) -> Values:
        asked.append(seed)
        if asked == [0, 1]:
            raise KeyboardInterrupt
        readers = {"chosen": 0.5 + seed, "frequent": 0.1}
        return {"jaccard": readers, "topics_seen": readers, "meter": {"dimensions": 2.0}}

    monkeypatch.setattr(analyse_topics, "topic_values", stopping)
    corpus = DrawnCorpus("simulated", (made_up_topics(30, 3),), 100)
    store = PartStore.open_beside(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        topic_rows(corpus, 1.0, 3, store)
    rows = topic_rows(corpus, 1.0, 3, store)
    assert asked == [0, 1, 1, 2]
    assert rows[1]["values"] == [0.5, 1.5, 2.5]

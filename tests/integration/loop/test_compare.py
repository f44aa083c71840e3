"""Privacy settings compared by one call: on files, frames and rows alike."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.demos import count_few_words

import sottovoce as sv
from sottovoce.assess.evaluation.metrics import JudgedTopic
from sottovoce.corpus.simulate.write import write_files
from sottovoce.errors import InputError, ParameterError
from sottovoce.loop._round import Circle, RoundOutcome
from sottovoce.loop.adversary import TopicScores
from sottovoce.loop.documents import PrivacySetting
from sottovoce.loop.loop import LoopPlan
from sottovoce.loop.subject import Subject
from sottovoce.loop.usefulness import Task
from sottovoce.report.result import StudyResult

EFFORT = sv.loop.Effort(topics=2, iterations=2)
USES = ("coherence", "jaccard", "accuracy", "accuracy_true", "totals_error")
COMMUNITY = sv.simulate(users=150, weeks=4, background_documents=1)
WITH_WHOLE_DOCUMENTS = {"way", "unit", "votes", "document_told", "document_bound"}


def compared(posts: Any, **options: Any) -> StudyResult:  # noqa: ANN401 - any source
    asked: dict[str, Any] = {"epsilon": "40", "effort": EFFORT, **options}
    return sv.loop.compare_settings(posts, **asked)


def frame() -> dict[str, Any]:
    """The community as a frame with other names, and what is known of it."""
    posts = COMMUNITY.posts.to_pandas().rename(columns={"user": "author", "text": "body"})
    assert isinstance(posts, pd.DataFrame)
    known = {"topics": COMMUNITY.topics, "truth": COMMUNITY.truth}
    return {"posts": posts, "user": "author", "text": "body", **known}


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    count_few_words(monkeypatch)


@pytest.fixture(scope="module")
def whole() -> StudyResult:
    """All that a comparison does, once."""
    with pytest.MonkeyPatch.context() as patch:
        count_few_words(patch)
        return compared(**frame())


def test_one_setting_is_a_row_beside_that_of_no_protection(whole: StudyResult) -> None:
    assert [row["epsilon"] for row in whole.rows] == [None, "40"]
    assert set(USES) < set(whole.rows[0])
    assert not WITH_WHOLE_DOCUMENTS & set(whole.rows[0])


def test_a_folder_and_a_frame_with_other_names_are_the_same_community(
    whole: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared is the same, and so are the numbers, which depend on nothing else."""
    folder = tmp_path / "community"
    write_files(folder, COMMUNITY)
    (folder / "background.parquet").unlink()
    seen: list[tuple[Subject, LoopPlan]] = []

    def look(subjects: Sequence[Subject], plan: LoopPlan) -> StudyResult:
        seen.append((subjects[0], plan))
        return whole

    monkeypatch.setattr("sottovoce.loop.loop.run_loop", look)
    compared(**frame())
    compared(folder)
    (of_frame, plan), (of_folder, same_plan) = seen
    assert plan == same_plan
    assert of_frame.posts.num_rows
    assert of_frame.posts.equals(of_folder.posts)
    assert of_frame.judged
    for name in ("catalogue", "words", "frequencies", "seed"):
        assert getattr(of_frame, name) == getattr(of_folder, name), name
    assert of_frame.knowledge.spaces == of_folder.knowledge.spaces
    assert of_frame.knowledge.catalogue == of_folder.knowledge.catalogue
    assert list(map(told, of_frame.judged)) == list(map(told, of_folder.judged))


def told(judged: JudgedTopic) -> tuple[object, ...]:
    return judged.name, judged.users.to_pylist(), [*judged.sensitive], [*judged.grades]


def test_several_settings_and_compressions_are_a_row_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One release of each compression stands for its others: how settings are told is looked at."""
    monkeypatch.setattr(Task, "usefulness", lambda *_: dict.fromkeys(USES, 0.5))
    released, drawn = Circle.run_setting, dict[str, RoundOutcome]()

    def once(circle: Circle, setting: PrivacySetting, before: TopicScores) -> RoundOutcome:
        kind = f"{setting.method} {setting.rate is None}"
        if kind not in drawn:
            drawn[kind] = released(circle, setting, before)
        return drawn[kind]

    monkeypatch.setattr(Circle, "run_setting", once)
    rows = compared(
        COMMUNITY.posts,
        topics=COMMUNITY.topics,
        epsilon=[8, "4"],
        precision=[1, 2],
        compress=("none", "random"),
        columns=50,
        shape="user",
    ).rows
    rates = [row["rate"] for row in rows if row["compression"] == "random"]
    assert rates == [None, 8, 4, 2]
    assert len(rows) == 8


def test_the_folder_that_is_asked_for_is_written_for_its_owner_only(
    whole: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.loop.loop.run_loop", lambda *_: whole)
    compared(COMMUNITY.posts, topics=COMMUNITY.topics, out=tmp_path / "out")
    written = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "out").iterdir()}
    assert set(written) == {"rows.json", "report.html", "loop-1.svg", "loop-2.svg"}
    assert not any(written.values())


def test_what_cannot_be_compared_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="compress must be one of none, random, frequency"):
        compared(COMMUNITY.posts, topics=COMMUNITY.topics, compress="zip")
    with pytest.raises(InputError, match="no such file"):
        compared(tmp_path / "nowhere")

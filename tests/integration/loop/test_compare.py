"""Privacy settings compared by one call: on files, frames and rows alike."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.corpus.simulate import write_files
from sottovoce.errors import InputError, ParameterError
from sottovoce.loop._usefulness import Task

EFFORT = sv.loop.Effort(topics=2, iterations=2)
_READ = ("jaccard", "accuracy", "accuracy_true", "totals_error")
USES = ("coherence", *_READ, *(f"{use}_former" for use in _READ))
COMMUNITY = sv.simulate(users=60, weeks=2, background_documents=1)


def compared(posts: Any, **options: Any) -> tuple[dict[str, Any], ...]:  # noqa: ANN401 - any source
    asked: dict[str, Any] = {"epsilon": "40", "effort": EFFORT, **options}
    return sv.loop.compare_settings(posts, **asked).rows


def test_a_folder_and_a_frame_with_other_names_give_the_same_numbers(tmp_path: Path) -> None:
    """At 20 nats per word no noise is drawn that anybody could see, so that all rows agree."""
    folder = tmp_path / "community"
    write_files(folder, COMMUNITY)
    (folder / "background.parquet").unlink()
    frame = COMMUNITY.posts.to_pandas().rename(columns={"user": "author", "text": "body"})
    assert isinstance(frame, pd.DataFrame)
    found = compared(
        frame, user="author", text="body", topics=COMMUNITY.topics, truth=COMMUNITY.truth
    )
    assert found == compared(folder)
    assert [row["epsilon"] for row in found] == [None, "40"]


def test_several_settings_and_compressions_are_a_row_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Task, "usefulness", lambda *_: dict.fromkeys(USES, 0.5))
    rows = compared(
        COMMUNITY.posts,
        topics=COMMUNITY.topics,
        epsilon=[8, "4"],
        precision=[1, 2],
        compress=("none", "random"),
        columns=50,
        shape="user",
    )
    rates = [row["rate"] for row in rows if row["compression"] == "random"]
    assert rates == [None, 8, 4, 2]
    assert len(rows) == 8


def test_the_folder_that_is_asked_for_is_written_for_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Task, "usefulness", lambda *_: dict.fromkeys(USES, 0.5))
    compared(COMMUNITY.posts, topics=COMMUNITY.topics, out=tmp_path / "out")
    written = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "out").iterdir()}
    assert set(written) == {"rows.json", "report.html", "loop-1.svg", "loop-2.svg"}
    assert not any(written.values())


def test_what_cannot_be_compared_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="compress must be one of none, random, frequency"):
        compared(COMMUNITY.posts, topics=COMMUNITY.topics, compress="zip")
    with pytest.raises(InputError, match="no such file"):
        compared(tmp_path / "nowhere")

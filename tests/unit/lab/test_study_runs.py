"""Studies as a user asks for them: sizes, data, findings, and what is written."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release import _study as sizes
from sottovoce_lab.release import figure_2
from sottovoce_lab.release._scores import compared_with_none
from sottovoce_lab.release.figure_1 import run_release_figure_1
from sottovoce_lab.release.figure_2 import run_release_figure_2
from sottovoce_lab.release.synthetic import run_release_synthetic

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.mechanism import geometric_noise
from sottovoce.report.page import Plot, legend_below, new_panels
from sottovoce.report.result import Row, StudyResult, write_study


def scored(method: str, rate: float, mean: float, half: float, seeds: int = 5) -> Row:
    low, high = mean - half, mean + half
    return {
        "method": method,
        "rate": rate,
        "jaccard": mean,
        "jaccard_low": low,
        "jaccard_high": high,
        "seeds": seeds,
    }


ROWS = [
    scored("none", 5.0, 0.6, 0.05),
    scored("random", 5.0, 0.3, 0.05),
    scored("none", 0.5, 0.2, 0.02),
    scored("random", 0.5, 0.1, 0.02),
    scored("frequency", 0.5, 0.3, 0.02),
    scored("none", 0.05, 0.1, 0.05),
    scored("random", 0.05, 0.14, 0.03),
    scored("none", 0.02, 0.3, 0.05),
    scored("random", 0.02, 0.25, 0.03),
]


def test_a_finding_names_the_rates_where_intervals_part() -> None:
    assert compared_with_none(ROWS, "jaccard") == (
        "compression is better at rate 0.5; no compression is better at rate 5; "
        "their intervals overlap at rates 0.05, 0.02 (95% intervals, each by itself)"
    )


def test_one_seed_decides_nothing() -> None:
    rows = [scored("none", 5.0, 0.6, 0, seeds=1), scored("random", 5.0, 0.3, 0, seeds=1)]
    assert "nothing can be compared" in compared_with_none(rows, "jaccard")


def result() -> StudyResult:
    figure, (left, right) = new_panels(2)
    left.plot([1, 2], label="level")
    left.errorbar([1, 2], [1, 2], yerr=[1, 1], label="series")
    right.plot([1, 2], label="level")
    legend_below(figure, 2)
    rows: tuple[Row, ...] = (
        {"method": "none", "score": 0.5, "score_low": 0.3, "seeds": 2, "words": ["a", "b"]},
        {"method": "random", "score": 1234.5, "score_low": None, "seeds": 2, "words": None},
    )
    plot = Plot(figure, "A <finding>.", "Lines.")
    return StudyResult(rows, (plot,), ("method", "score"), wide=("words",))


def test_a_table_shows_means_with_their_intervals() -> None:
    assert result().table()[0] == {"method": "none", "score": "0.500 ± 0.200"}
    assert result().table(wide=True) == [
        {"method": "none", "score": "0.500 ± 0.200", "words": "a b"},
        {"method": "random", "score": "1,234", "words": "-"},
    ]


def test_a_study_s_folder_holds_rows_pictures_and_a_page_for_the_owner_only(tmp_path: Path) -> None:
    paths = write_study(result(), tmp_path / "o", name="n", title="Title", command="again & again")
    assert [path.name for path in paths] == ["rows.json", "n-1.svg", "report.html"]
    assert json.loads(paths[0].read_text())[0]["words"] == ["a", "b"]
    assert paths[1].read_text().startswith("<svg")
    assert 'xmlns="http://www.w3.org/2000/svg"' in paths[1].read_text()
    page = paths[2].read_text()
    assert "A &lt;finding&gt;." in page
    assert '<th scope="col">score</th>' in page
    assert '<td class="mean">0.500 ± 0.200</td>' in page
    assert "<td>a b</td>" in page
    assert "again &amp; again" in page
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_studies_use_the_exact_noise() -> None:
    _, recipe, _ = sizes.prepare_documents(StudyOptions(data="simulated"), sizes.QUICK)
    assert recipe.noise is geometric_noise
    assert recipe.columns == 25


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        (run_release_figure_1, {"seeds": 3}, "shows one draw"),
        (run_release_synthetic, {"data": "own.csv"}, "makes its own data"),
        (run_release_synthetic, {"embedding": Path("v")}, "makes its own data"),
        (run_release_figure_1, {"seeds": 0}, "seeds must be >= 1, got 0"),
        (run_release_figure_1, {"documents": -1}, "documents must be >= 1, got -1"),
    ],
)
def test_what_a_study_cannot_use_is_refused(
    run: Callable[[StudyOptions], StudyResult], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        run(StudyOptions(**options))


def test_classification_without_classes_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    monkeypatch.setattr(figure_2, "run", None)
    path = tmp_path / "own.txt"
    path.write_text("one two three four\n" * 30)
    with pytest.raises(CorpusError, match="needs 2 classes or more.* got 1, the smallest of 30"):
        run_release_figure_2(StudyOptions(data=str(path), quick=True))


def test_vectors_that_know_too_few_words_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    path = tmp_path / "own.txt"
    path.write_text("loan bank money\n" * 30)
    options = StudyOptions(data=str(path), quick=True)

    def methods(vectors: str) -> bool:
        (tmp_path / sizes.EMBEDDING_FILE).write_text(vectors)
        _, recipe, notes = sizes.prepare_documents(options, sizes.QUICK)
        assert (sizes.NO_EMBEDDING in notes) == (recipe.embedding is None)
        return recipe.embedding is not None

    assert methods("loan 0 1\nbank 1 0\n")
    assert not methods("loan 0 1\n")
    assert not methods("other 0 1\n")


def test_figure_1_runs_on_a_user_s_own_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    generator = np.random.default_rng(0)
    words = [f"word{i}" for i in range(30)]
    path = tmp_path / "own.txt"
    path.write_text("\n".join(" ".join(generator.choice(words, 20)) for _ in range(25)))
    result = run_release_figure_1(StudyOptions(data=str(path), quick=True))
    assert {row["documents"] for row in result.rows} == {25}
    assert {row["words"] for row in result.rows} == {30}
    assert result.rows[-1]["columns"] == 3
    assert "times as long" in result.plots[0].finding
    assert any("the data chose them" in note for note in result.notes)

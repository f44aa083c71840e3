"""The assess studies as their users meet them: quick, and on files of their own."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from sottovoce_lab.assess import experiment
from sottovoce_lab.assess.experiment import AssessStudySizes, seed_knowledge
from support.shown import Run

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import write_community
from sottovoce.loop.adversary import Knowledge

pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
pytest.importorskip("gensim", reason="gensim is missing: pip install sottovoce[topics]")

PLOTS = {"assess-table-4": 1, "assess-table-5": 3, "assess-table-6": 1, "assess-figure-1": 1}
PAPER_COLUMNS = {
    "assess-table-4": "paper_aol_map",
    "assess-table-5": "paper_aol_map",
    "assess-table-6": "paper_aol_r_precision",
    "assess-figure-1": "paper_sampled",
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The options that point at a small community in files."""
    folder = tmp_path_factory.mktemp("own")
    write_community(folder, SimulationParameters(users=120, weeks=6, background_documents=1))
    return [
        "--posts",
        folder / "posts.parquet",
        "--truth",
        folder / "truth.parquet",
        "--topics",
        folder / "topics.toml",
    ]


@pytest.fixture
def trained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick studies learn alike from one background: its models are trained for the first only."""

    def shared(sizes: AssessStudySizes, seed: int, spaces: Sequence[str]) -> Knowledge:
        known = trained(replace(sizes, seeds=1, levels=()), seed)
        used = tuple(space for space in known.spaces if space.name in spaces)
        return replace(known, spaces=used)

    monkeypatch.setattr(experiment, "seed_knowledge", shared)


@cache
def trained(sizes: AssessStudySizes, seed: int) -> Knowledge:
    return seed_knowledge(sizes, seed, ("w2v", "lda"))


@pytest.mark.usefixtures("trained_once")
@pytest.mark.parametrize("name", PLOTS)
def test_a_quick_study_fills_its_folder_with_the_paper_s_figures_beside(
    run_study: Run, tmp_path: Path, name: str
) -> None:
    rows = run_study(name, "--quick", "--out", tmp_path / "out", "--json").json
    assert rows == json.loads((tmp_path / "out" / "rows.json").read_text())
    assert any(row[PAPER_COLUMNS[name]] is not None for row in rows)
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    pictures = [f"{name}-{number}.svg" for number in range(1, PLOTS[name] + 1)]
    assert files == [*pictures, "report.html", "rows.json"]
    if name == "assess-table-5":
        check_table_5(rows)


def check_table_5(rows: list[dict[str, object]]) -> None:
    """All 14 methods and the baselines; the control finds nothing; chance is exact."""
    by_key = {(row["community"], row["measure"]): row for row in rows}
    assert {level for level, _ in by_key} == {"default", "control"}
    assert len(by_key) == 2 * 16
    for level in ("default", "control"):
        assert by_key[level, "random"]["r_precision_micro"] == pytest.approx(45 / 1500)
        assert by_key[level, "random"]["professional"] == pytest.approx(0.5)
    found = {level: float(str(by_key[level, "lda-t"]["map"])) for level in ("default", "control")}
    assert found["default"] > 0.2
    assert found["control"] < 0.12
    moved = [float(str(by_key["default", name]["professional"])) for name in ("bow", "bow-d")]
    assert moved[1] < moved[0] - 0.2
    assert by_key["default", "lda-dt"]["against"] == "lda"


def test_a_study_runs_on_a_user_s_own_files(run_study: Run, own: list[object]) -> None:
    rows = run_study("assess-table-5", *own, "--json").json
    names = [row["measure"] for row in rows]
    assert names == ["ent", "diff-priv", "bow", "bow-d", "bow-t", "bow-dt", "random", "posts"]
    assert {row["community"] for row in rows} == {"posts.parquet"}
    bow = rows[2]
    assert bow["map_low"] < bow["map"] < bow["map_high"]
    assert (bow["seeds"], bow["users"], bow["sensitive"]) == (1, 120, 20)


def test_table_6_asks_for_a_latent_model(run_study: Run, own: list[object]) -> None:
    code, out, err = run_study("assess-table-6", *own)
    assert (code, out) == (2, "")
    assert "about lda measures: give such a --model" in err


def test_other_studies_run_on_own_files_too(run_study: Run, own: list[object]) -> None:
    for name in ("assess-table-4", "assess-figure-1"):
        code, out, err = run_study(name, *own)
        assert code == 0, err
        assert "Your own community" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["assess-table-5", "--posts", "p.csv"], "--posts, --truth and --topics together"),
        (["assess-table-4", "--data", "news"], "take no --data"),
        (["assess-figure-1", "--seeds", "3"], "shows one draw"),
    ],
)
def test_what_cannot_be_run_ends_with_exit_code_2(
    run_study: Run, arguments: list[str], message: str
) -> None:
    code, out, err = run_study(*arguments)
    assert (code, out) == (2, "")
    assert message in err

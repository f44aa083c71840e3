"""``sottovoce loop`` as its user runs it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.demos import count_few_words, learn_no_classifiers, train_loops_briefly

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate, write_files

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def community(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small community without background texts, so that no model is trained."""
    folder = tmp_path_factory.mktemp("loop") / "community"
    write_files(
        folder, simulate(SimulationParameters(users=150, weeks=6, seed=4, background_documents=1))
    )
    (folder / "background.parquet").unlink()
    return folder


def test_exposure_falls_from_no_noise_to_strong_noise(
    community: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_loops_briefly(monkeypatch)
    count_few_words(monkeypatch)
    learn_no_classifiers(monkeypatch)
    code, out, _ = run(
        "loop", community, "--epsilon", "40", "--epsilon", "0.2", "-N", "2", "--json",
        "--out", tmp_path / "out",
    )  # fmt: skip
    rows = json.loads(out)
    assert code == 0
    bare, weak, strong = rows
    assert [row["epsilon"] for row in rows] == [None, "40", "0.2"]
    # At 20 nats per word the noise is zero but for one cell in 10^8: the release is the counts.
    shared = [name for name in bare if name.startswith("r_precision: as published")]
    assert shared
    assert [weak[name] for name in shared] == [bare[name] for name in shared]
    assert bare["rank_correlation"] > 0.3
    assert strong["rank_correlation"] < 0.15
    assert strong["overlap_10"] < bare["overlap_10"] - 0.1
    assert strong["jaccard"] < bare["jaccard"] - 0.1
    for name in ("rows.json", "report.html", "loop-1.svg"):
        assert (tmp_path / "out" / name).stat().st_mode & 0o077 == 0


def test_without_a_truth_those_who_stay_at_the_top_decide(
    community: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_loops_briefly(monkeypatch)
    count_few_words(monkeypatch)
    learn_no_classifiers(monkeypatch)
    posts, topics = community / "posts.parquet", community / "topics.toml"
    code, out, _ = run(
        "loop", posts, "--topics", topics, "--epsilon", "8", "--shape", "user", "--limit", "0.9"
    )
    assert code == 0
    assert "To keep the share of the top 5% who stay there below 0.9" in out
    assert "changes any outcome's probability" in out
    assert "who are in the first 5% of the release" in " ".join(out.split())
    assert "by always saying the commoner label" in " ".join(out.split())
    assert "R-precision" not in out
    assert "are found" not in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--compress", "zip"], "compress must be one of none, random, frequency, got 'zip'."),
        (["--shape", "month"], "shape must be one of user, week, got 'month'."),
        (["--limit", "0"], "limit must be > 0 and <= 1, got 0.0."),
        (["--compress", "random", "--columns", "100000"], "columns must be >= 1 and below"),
        (["--epsilon", "0"], "epsilon"),
    ],
)
def test_bad_wishes_are_refused_in_a_sentence(
    community: Path, run: Run, arguments: list[str], says: str
) -> None:
    code, out, err = run("loop", community, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


def test_missing_files_are_refused(run: Run, tmp_path: Path) -> None:
    code, _, err = run("loop", tmp_path / "nowhere")
    assert code == 2
    assert "no such file" in err

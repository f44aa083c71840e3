"""The loop with whole documents hidden: two more rows for each epsilon."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.demos import count_few_words, learn_no_classifiers, train_loops_briefly

import sottovoce as sv
from sottovoce.corpus.simulate.write import write_files

Run = Callable[..., tuple[int, str, str]]
COMMUNITY = sv.simulate(users=90, weeks=2, background_documents=1)
NEW = {"way", "unit", "votes", "document_told", "document_bound"}


@pytest.fixture
def community(tmp_path: Path) -> Path:
    """A small community without background texts, so that no model is trained."""
    write_files(tmp_path / "community", COMMUNITY)
    (tmp_path / "community" / "background.parquet").unlink()
    return tmp_path / "community"


def test_the_loop_compares_both_ways_at_one_epsilon(
    community: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_loops_briefly(monkeypatch)
    count_few_words(monkeypatch)
    learn_no_classifiers(monkeypatch)
    code, out, _ = run(
        "loop", community, "--epsilon", "40", "--shape", "user", "--json",
        "--whole-documents", "90", "--votes", "6", "--out", tmp_path / "out",
    )  # fmt: skip
    assert code == 0
    bare, passage, local, together = json.loads(out)
    ways = [(row["way"], row["unit"], row["epsilon"]) for row in (bare, passage, local, together)]
    assert ways == [
        ("no protection", None, None),
        ("local release", "passage", "40"),
        ("local release", "whole document", "90"),
        ("count together", "whole document", "90"),
    ]
    assert NEW < set(bare) <= set(passage) <= set(local) == set(together)
    assert together["guarantee"] == (
        "epsilon=90 per whole document, of 4 peers 1 may collude and 0 drop out"
    )
    assert local["guarantee"].startswith("(N=6, epsilon=90)")
    # Whom a sum finds is not 0: there is no such number.
    assert together["r_precision"] is together["rank_correlation"] is together["accuracy"] is None
    assert together["accuracy_true"] > 0.5
    assert (bare["document_told"], together["document_told"]) == (1, 1)
    assert together["document_bound"] == pytest.approx(1)
    assert "does not exist for a sum" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "loop-3.svg").exists()


def test_an_epsilon_that_cannot_be_kept_is_refused_in_a_sentence(community: Path, run: Run) -> None:
    code, out, err = run("loop", community, "--whole-documents", "1", "--votes", "1")
    assert (code, out) == (2, "")
    assert "votes must be from 2" in err

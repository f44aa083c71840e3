"""The guide from documents to a classifier says what the code says, and its examples run."""

from pathlib import Path
from typing import Any

import pytest

from sottovoce.learn._features import TextRecipe
from sottovoce.learn._run.leakage import run_leakage
from sottovoce.learn._run.terms import RunTerms
from sottovoce.learn._training_terms import Recipe

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "learn-text.md"
PEERS = {name: bytes(32) for name in ("ada", "ben", "cy", "dee")}
RUNS: list[dict[str, Any]] = [
    {"kind": "train", "mode": "open"},
    {
        "kind": "classify",
        "mode": "hidden",
        "recipe": Recipe(penalty=0.1),
        "training": bytes(16),
        "asker": "ada",
        "rows": 3,
    },
    {"kind": "evaluate", "mode": "open", "training": bytes(16)},
    {"kind": "rados", "mode": "open", "recipe": Recipe(penalty=0.1)},
]


@pytest.mark.parametrize("given", RUNS, ids=lambda given: given["kind"])
def test_the_guide_shows_every_kind_of_runs_leakage(given: dict[str, Any]) -> None:
    terms = RunTerms(bytes(16), identities=PEERS, text=TextRecipe(), **given)
    assert run_leakage(terms).table() in GUIDE.read_text(encoding="utf-8")


def test_the_guides_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    examples = GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(examples) == 3
    for example in examples:
        exec(compile(example.split("```")[0], "learn-text.md", "exec"), names)  # noqa: S102 - our own guide
    assert names["kept"]["labels"] == ("ham", "spam")

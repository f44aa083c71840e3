"""The guide from documents to a classifier says what the code says, and its examples run."""

from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "learn-text.md"


def test_the_guides_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    examples = GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(examples) == 3
    for example in examples:
        exec(compile(example.split("```")[0], "learn-text.md", "exec"), names)  # noqa: S102 - our own guide
    assert names["kept"]["labels"] == ("ham", "spam")

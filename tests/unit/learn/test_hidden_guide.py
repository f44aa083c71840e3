"""The guide to hidden solves says what the code says, and its example runs."""

from pathlib import Path

import pytest
from support.leakage_page import LINK, is_shown

from sottovoce.learn.solve import chebyshev, masked
from sottovoce.learn.wire.message import Leakage

GUIDE = Path(__file__).parents[3] / "docs" / "explanation" / "learn-hidden.md"


@pytest.mark.parametrize("module", [masked, chebyshev])
def test_the_page_of_leakage_shows_every_hidden_solve_of_the_guide(module: object) -> None:
    leakage = module.LEAKAGE  # type: ignore[attr-defined] # that is what is tested
    assert isinstance(leakage, Leakage)
    assert is_shown(leakage)
    assert LINK in GUIDE.read_text(encoding="utf-8")


def test_the_guides_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = GUIDE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn-hidden.md", "exec"), {})  # noqa: S102 - our own guide
    assert "[" in capsys.readouterr().out

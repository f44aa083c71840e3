"""The guide to secure arithmetic says what the code does."""

from pathlib import Path

import pytest
from support.leakage_page import LINK, is_shown

from sottovoce.learn.modes import comparison
from sottovoce.learn.wire.message import Leakage

GUIDE = (Path(__file__).parents[3] / "docs" / "explanation" / "learn-arithmetic.md").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize(
    "leakage",
    [
        comparison.LEAKAGE,
    ],
)
def test_the_page_of_leakage_shows_every_protocol_of_the_guide(leakage: Leakage) -> None:
    assert is_shown(leakage)
    assert LINK in GUIDE


def test_the_guides_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = GUIDE.split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn-arithmetic.md", "exec"), {})  # noqa: S102 - our own guide
    assert capsys.readouterr().out.startswith("[0 0 1] 2 ")

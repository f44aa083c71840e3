"""Every protocol says who learns what, and the guide says the same."""

from pathlib import Path

import pytest

from sottovoce.learn.party import Leakage
from sottovoce.learn.rados import encrypted
from sottovoce.learn.sums import masking, packed, ring

GUIDE = Path(__file__).parents[3] / "docs" / "learn.md"


@pytest.mark.parametrize("module", [ring, masking, packed, encrypted])
def test_the_guide_shows_the_leakage_of_every_protocol(module: object) -> None:
    leakage = module.LEAKAGE  # type: ignore[attr-defined] # that is what is tested
    assert isinstance(leakage, Leakage)
    assert leakage.table() in GUIDE.read_text(encoding="utf-8")


def test_the_guides_example_runs() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn.md", "exec"), {})  # noqa: S102 - our own guide

"""Every protocol says who learns what, and the page that the guide links to says the same."""

from pathlib import Path

import pytest
from support.leakage_page import LINK, is_shown

from sottovoce.learn import train
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.rados import intermediary
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums import keys as masks
from sottovoce.learn.wire.message import Leakage, new_session

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "learn.md"


@pytest.mark.parametrize("module", [masks, intermediary])
def test_the_page_of_leakage_shows_every_protocol_of_the_guide(module: object) -> None:
    leakage = module.LEAKAGE  # type: ignore[attr-defined] # that is what is tested
    assert isinstance(leakage, Leakage)
    assert is_shown(leakage)
    assert LINK in GUIDE.read_text(encoding="utf-8")


def test_the_guides_example_runs() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn.md", "exec"), {})  # noqa: S102 - our own guide


@pytest.mark.parametrize("peers", [2, 3])
def test_two_peers_are_told_that_each_learns_the_others_part(peers: int) -> None:
    rows = [[1.0, 0.0], [0.0, 1.0]] * 10
    given = {f"peer{at}": (rows, [1, -1] * 10) for at in range(peers)}
    two = "each learns the other's summand"
    trained = train(given, penalty=0.1, allow_two=two)
    identities = {name: bytes(32) for name in given}
    recipe = trained.terms.recipe
    terms = RunTerms(new_session(), "train", "open", identities, recipe, text=TextRecipe(width=5))
    for leakage in (trained.leakage, run_leakage(terms)):
        said = {row.who: row.what for row in leakage.learns}
        assert ("the other's part" in said["every peer"]) == (peers == 2)
        assert "the other's part" not in said["coordinator"]

"""Every protocol says who learns what, also by lying or with a backup, and so does the page."""

from typing import Any

import pytest
from support.leakage_page import is_shown
from support.tools import loaded_tool

from sottovoce.learn import train
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.modes import comparison
from sottovoce.learn.rados import intermediary
from sottovoce.learn.run.leakage import mode_leakage, run_leakage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.solve import chebyshev, masked
from sottovoce.learn.sums import keys as masks
from sottovoce.learn.training_terms import Mode, Recipe
from sottovoce.learn.wire.message import Leakage

ROWS = ["coordinator + 1 peer", "lying coordinator", "lying peer", "restored backup"]
PEERS = {name: bytes(32) for name in ("ada", "ben", "cy", "dee")}
GIVEN = Recipe(penalty=0.1)
MODES: list[tuple[Mode, Recipe]] = [
    ("open", Recipe()),
    ("open", Recipe(statistics="rados", penalty=0.1)),
    ("hidden", GIVEN),
]


def test_the_page_says_what_the_code_says() -> None:
    """Made by tools/leakage_page.py; what it calls alike has rows for the same parties."""
    tool = loaded_tool("leakage_page")
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()
    shown = {run.title: run for run in (*tool.runs(), *tool.protocols())}
    for run in shown.values():
        if run.like:
            assert _parties(shown[run.like].leakage) <= _parties(run.leakage)


def _parties(leakage: Leakage) -> set[str]:
    return {line.split("|")[1] for line in leakage.table().splitlines()}


def test_the_page_shows_every_mode_and_protocol_and_no_two_modes_leak_alike() -> None:
    """With the rows that it leaves out where a table is like one before it."""
    modes = [mode_leakage(mode, recipe) for mode, recipe in MODES]
    modules = (masks, intermediary, masked, chebyshev, comparison)
    assert all(is_shown(each) for each in (*modes, *(module.LEAKAGE for module in modules)))
    assert len({leakage.table() for leakage in modes}) == len(MODES)


@pytest.mark.parametrize(("mode", "recipe"), MODES)
def test_each_modes_table_has_the_four_rows(mode: Mode, recipe: Recipe) -> None:
    leakage = mode_leakage(mode, recipe)
    assert leakage.learns[0].who == "coordinator"
    assert [row.who for row in leakage.against] == ROWS
    assert all(f"| {row.who} | {row.what} |" in leakage.table() for row in leakage.against)
    assert "{" not in leakage.table()


USE: dict[str, Any] = {"training": bytes(16), "asker": "ada", "rows": 3}


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "train", "mode": "open"},
        {"kind": "train", "mode": "hidden", "recipe": GIVEN},
        {"kind": "rados", "mode": "open", "recipe": GIVEN},
        {"kind": "evaluate", "mode": "open", "training": bytes(16)},
        {"kind": "classify", "mode": "hidden", "recipe": GIVEN, **USE},
        {"kind": "classify", "mode": "open", "contributors": ("ben", "cy"), **USE},
    ],
    ids=lambda given: f"{given['kind']} {given['mode']}",
)
def test_every_runs_table_states_the_coordinator_with_one_peer(given: dict[str, Any]) -> None:
    found = run_leakage(RunTerms(bytes(16), identities=PEERS, text=TextRecipe(), **given))
    one = "contributor" if "contributors" in given else "peer"
    assert f"the coordinator and one {one}" in found.collusion
    if given["kind"] in {"train", "rados"}:
        assert [row.who for row in found.against] == ROWS


def test_the_rows_say_the_recipes_own_numbers() -> None:
    recipe = Recipe(penalty=0.1, fewest_documents=8)
    assert "over 8 of the others' documents" in mode_leakage("open", recipe).against[0].what
    assert "no more than 3, 4 or 8 are counted" in mode_leakage("open", recipe).learns[0].what


@pytest.mark.parametrize("peers", [2, 3])
def test_two_peers_are_told_that_each_learns_the_others_part(peers: int) -> None:
    given = {f"peer{at}": ([[1.0, 0.0], [0.0, 1.0]] * 10, [1, -1] * 10) for at in range(peers)}
    trained = train(given, penalty=0.1, allow_two="each learns the other's summand")
    identities, recipe = {name: bytes(32) for name in given}, trained.terms.recipe
    terms = RunTerms(bytes(16), "train", "open", identities, recipe, text=TextRecipe(width=5))
    for leakage in (trained.leakage, run_leakage(terms)):
        said = {row.who: row.what for row in leakage.learns}
        assert ("the other's part" in said["every peer"]) == (peers == 2)
        assert "the other's part" not in said["coordinator"]

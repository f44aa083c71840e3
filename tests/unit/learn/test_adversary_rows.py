"""Every table says what the coordinator gains with one peer, and what lies and a backup gain."""

from typing import Any

import pytest

from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.leakage import mode_leakage, run_leakage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import Mode, Recipe

ROWS = ["coordinator + 1 peer", "lying coordinator", "lying peer", "restored backup"]
PEERS = {name: bytes(32) for name in ("ada", "ben", "cy", "dee")}
GIVEN = Recipe(penalty=0.1)


@pytest.mark.parametrize("mode", ["open", "hidden"])
def test_each_modes_table_has_the_four_rows(mode: Mode) -> None:
    leakage = mode_leakage(mode, GIVEN)
    assert leakage.learns[0].who == "coordinator"
    assert [row.who for row in leakage.against] == ROWS
    assert all(
        f"| {who} | {row.what} |" in leakage.table()
        for who, row in zip(ROWS, leakage.against, strict=True)
    )
    assert "{" not in leakage.table()


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "train", "mode": "open"},
        {"kind": "train", "mode": "hidden", "recipe": GIVEN},
        {"kind": "rados", "mode": "open", "recipe": GIVEN},
        {"kind": "evaluate", "mode": "open", "training": bytes(16)},
        {
            "kind": "classify",
            "mode": "hidden",
            "recipe": GIVEN,
            "training": bytes(16),
            "asker": "ada",
            "rows": 3,
        },
        {
            "kind": "classify",
            "mode": "open",
            "training": bytes(16),
            "asker": "ada",
            "rows": 3,
            "contributors": ("ben", "cy"),
        },
    ],
    ids=lambda given: f"{given['kind']} {given['mode']}",
)
def test_every_runs_table_states_the_coordinator_with_one_peer(given: dict[str, Any]) -> None:
    terms = RunTerms(bytes(16), identities=PEERS, text=TextRecipe(), **given)
    together = run_leakage(terms).collusion
    assert (
        "the coordinator and one peer" in together
        or "the coordinator and one contributor" in together
    )
    if given["kind"] in {"train", "rados"}:
        assert [row.who for row in run_leakage(terms).against] == ROWS


def test_the_rows_say_the_recipes_own_numbers() -> None:
    recipe = Recipe(penalty=0.1, fewest_documents=8)
    assert "over 8 of the others' documents" in mode_leakage("open", recipe).against[0].what
    assert "no more than 3, 4 or 8 are counted" in mode_leakage("open", recipe).learns[0].what

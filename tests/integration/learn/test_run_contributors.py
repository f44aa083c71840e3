"""A row whose parts several peers hold: eq. 24 and the offsets of eq. 25, as runs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import (
    NAMES,
    labels_kept,
    made_terms,
    part_kept,
    trained,
    use_of,
)
from support.trainings import small_peers

from sottovoce.errors import ParameterError
from sottovoce.learn import train
from sottovoce.learn.documents import Table
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.party import Finished
from sottovoce.learn.run.records import read_hidden, read_trained
from sottovoce.learn.run.terms import RunTerms

COLUMNS = ("one", "two", "three", "four")
OWN = {
    "ada": ("one", "two", "three"),
    "ben": COLUMNS,
    "cy": COLUMNS,
    "dee": ("four", "two", "one"),
}
HIDDEN: dict[str, Any] = {
    "penalty": 0.1,
    "key_bits": BITS,
    "solver": "chebyshev",
    "fraction_bits": 16,
    "queries": 100,
}
ENTITIES = np.random.default_rng(5).normal(1.0, 2.0, (6, 4)).round(3)


def columns_of(rows: Any, name: str, labels: Any = None) -> Table:  # noqa: ANN401 - arrays
    places = [COLUMNS.index(column) for column in OWN[name]]
    return Table.from_rows(np.asarray(rows)[:, places], labels, OWN[name])


def given_peers() -> dict[str, Table]:
    return {name: columns_of(x, name, y) for name, (x, y) in zip(NAMES, small_peers(), strict=True)}


def a_training(mode: str, recipe: dict[str, Any]) -> tuple[RunTerms, Finished]:
    terms = made_terms("train", mode, features=COLUMNS, recipe=recipe)
    return terms, trained(terms, given_peers())


def asked(terms: RunTerms, ended: Finished, *others: str, **given: Any) -> Finished:  # noqa: ANN401 - of terms
    parts = {name: columns_of(ENTITIES, name) for name in ("ada", *others)}
    about = {"asker": "ada", "rows": len(ENTITIES), "contributors": others, **given}
    return use_of("classify", terms, ended, given_peers() | parts, **about)


def readable(penalty: float = 0.1) -> LinearModel:
    whole = train(
        {name: (each.rows, each.labels or ()) for name, each in given_peers().items()},
        features=list(OWN.values()),
        penalty=penalty,
    )
    return LinearModel(whole.coef_[0], float(whole.intercept_[0]))


def test_a_hidden_offset_is_the_mean_row_of_who_does_not_know_the_entities() -> None:
    with small_keys_allowed():
        terms, ended = a_training("hidden", HIDDEN)
        found = asked(terms, ended, "dee", offset="mean")
        kept = part_kept(ended.results["dee"], "classifiers")
        found_kept = read_hidden(kept)
    standard, own = found_kept.standard, found_kept.mean_row
    model = readable()
    slope = model.coefficients * standard.scales
    rows = standard.apply(ENTITIES * [1, 1, 1, 0])[:, :-1]
    intercept = model.intercept + float(model.coefficients @ standard.means)
    scores = rows[:, :3] @ slope[:3] + own[3] * slope[3] + intercept
    assert labels_kept(found.results["ada"]) == np.where(scores > 0, "1", "-1").tolist()


def test_the_coordinator_says_who_adds_which_feature_and_none_twice() -> None:
    terms, ended = a_training("open", {"penalty": 0.1})
    kept: Any = ended.results["coordinator"]["holdings"]
    assert {name: has.tolist() for name, has in kept.items()} == {
        name: read_trained(ended.results[name]).has.tolist() for name in NAMES
    }
    found = asked(terms, ended, "ben", "cy", "dee")
    kinds = [said.kind for said in found.transcript if said.sender == "coordinator"]
    assert kinds.count("claims") == 4


@pytest.mark.parametrize(
    "given",
    [
        {"contributors": ("eve",)},
        {"contributors": ("dee", "ben")},
        {"contributors": ("ada", "ben")},
        {"contributors": ("ben",), "offset": "mean"},
        {"mode": "hidden", "offset": "mean"},
        {"mode": "hidden", "contributors": ("ben",), "offset": "median"},
        {"kind": "evaluate", "contributors": ("ben",)},
    ],
    ids=str,
)
def test_contributors_that_make_no_query_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        made_terms(
            **{
                "kind": "classify",
                "text": None,
                "recipe": {"penalty": 0.1},
                "training": bytes(16),
                "asker": "ada",
                "rows": 1,
                **given,
            }
        )


def test_the_leakage_says_who_sees_the_scores() -> None:
    terms = made_terms(
        "classify", text=None, training=bytes(16), asker="ada", rows=2, contributors=("ben", "cy")
    )
    assert "| ben | that ada asks for 2 rows; which features" in run_leakage(terms).table()
    hidden = replace(terms, mode="hidden")
    assert "score, the sum" not in run_leakage(hidden).table()

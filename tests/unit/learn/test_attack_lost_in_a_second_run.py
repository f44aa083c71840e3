"""A coordinator has the very same training done twice, and says in the second that a peer is lost.

The terms of the two are the same, so that no peer minds. A sum goes on without whoever falls
silent, and the first training's sums less the second's were dee's own. Now a peer that remembers an
earlier training helps to open no sum that lacks a peer of its run.
"""

from dataclasses import replace
from typing import Any

import pytest
from support.openings import MemoryInProcess
from support.text_runs import AGREED, HASHED, made_holdings, made_peers, made_terms

from sottovoce.errors import TooFewPartiesError
from sottovoce.learn.run.party import Finished, run_in_process
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.wire.exchange import Faults

PEERS = made_peers(documents=30)
LOST = Faults(silent_from={"dee": 2})  # after its keys


class Remembering:
    """Peers with memories of their own, over several runs."""

    def __init__(self) -> None:
        self.memories = {name: MemoryInProcess() for name in PEERS}

    def holdings(self, earlier: Any = None) -> dict[str, Holdings]:  # noqa: ANN401 - results
        made = made_holdings(PEERS, earlier)
        return made | {n: replace(made[n], memory=self.memories[n]) for n in PEERS}

    def trains(self, faults: Faults | None = None, **given: Any) -> tuple[RunTerms, Finished]:  # noqa: ANN401 - terms
        recipe = {"penalty": 0.1, **given.pop("recipe", {})}
        terms = made_terms(recipe=recipe, labels=("ham", "spam"), **given)
        return terms, run_in_process(terms, self.holdings(), faults=faults)


def test_nobody_is_lost_in_a_training_that_comes_after_another() -> None:
    """Before, the second opened the sums of those who were left."""
    peers = Remembering()
    peers.trains(text=HASHED)
    with pytest.raises(TooFewPartiesError, match="got one without dee"):
        peers.trains(LOST, text=HASHED)
    peers.trains(text=HASHED)


def test_the_first_training_goes_on_without_the_lost_as_before() -> None:
    peers = Remembering()
    _, ended = peers.trains(LOST, text=HASHED)
    assert ended.results["ada"]["peers"] == ("ada", "ben", "cy")
    assert peers.memories["ada"].peers_among(b"", b"trained") == (("ada", "ben", "cy"),)


def test_nobody_is_lost_when_words_are_nominated_again() -> None:
    """The nominations of all less those of the others are dee's words."""
    peers = Remembering()
    peers.trains(text=AGREED)
    with pytest.raises(TooFewPartiesError, match="got one without dee"):
        peers.trains(Faults(silent_from={"dee": 5}), text=AGREED)


def test_nobody_is_lost_when_a_training_is_evaluated_again() -> None:
    """Counts of all less those of the others are dee's."""
    peers = Remembering()
    terms, ended = peers.trains(text=HASHED)

    def evaluated(faults: Faults | None = None) -> Finished:
        asked = made_terms("evaluate", text=HASHED, recipe=terms.recipe, training=terms.session)
        return run_in_process(asked, peers.holdings(ended.results), faults=faults)

    evaluated()
    with pytest.raises(TooFewPartiesError, match="got one without dee"):
        evaluated(Faults(silent_from={"dee": 5}))

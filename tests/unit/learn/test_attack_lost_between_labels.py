"""A coordinator says that a peer is lost after the first of several labels, and takes a difference.

Of three labels there are three trainings in one run, and each opened its sums over those who were
left. The sums of products are the same for every label: with everybody for the first, without dee
for the second, and the difference was dee's own. Whoever proposes a run may name a label that
nobody uses, so that two labels did too. Now nobody may be lost once something was opened.
"""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray
from support.openings import Opening
from support.text_runs import GIVEN, LABELS, made_holdings, made_peers, made_terms

from sottovoce.learn._features import Features
from sottovoce.learn._ridge import ExampleSums
from sottovoce.learn._run.party import make_party
from sottovoce.learn._run.terms import RunTerms
from sottovoce.learn._wire._refusals import TooFewPartiesError
from sottovoce.learn._wire.exchange import Exchange, Faults
from sottovoce.learn._wire.machine import Party
from sottovoce.learn._wire.message import Message
from sottovoce.learn.open import _train as open_training

PEERS = made_peers(documents=30, labels=3)
LOST = Faults(silent_from={"dee": 1 << 30})  # nobody waits for dee


class Unheard:
    """A party of whom the coordinator says from the so-manieth message on that it heard none."""

    def __init__(self, party: Party, most: int) -> None:
        self._inner, self._left = party, most

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def start(self) -> list[Message]:
        return self._heard(self._inner.start())

    def receive(self, message: Message) -> list[Message]:
        return self._heard(self._inner.receive(message))

    def _heard(self, messages: list[Message]) -> list[Message]:
        heard = messages[: max(0, self._left)]
        self._left -= len(messages)
        return heard


def openings(terms: RunTerms, most: int) -> list[Opening]:
    """What the coordinator opens until the run ends, if it hears so much of dee."""
    seen: list[Opening] = []
    solve = open_training.solved_statistics

    def looking(total: Any, terms: Any, kept: Any, standard: Any) -> Any:  # noqa: ANN401 - as there
        seen.append(Opening(ExampleSums.from_vector(total.ravel(), kept.width), kept.kept))
        return solve(total, terms, kept, standard)

    holdings = made_holdings(PEERS)
    parties: list[Any] = [make_party(terms, name, holdings[name]) for name in terms.parties]
    parties[-1] = Unheard(parties[-1], most)
    with mock.patch.object(open_training, "solved_statistics", looking):
        try:
            Exchange(parties, faults=LOST).run()
        except TooFewPartiesError:
            assert seen, "the first label's sums are opened"
    return seen


def difference(one: Opening, other: Opening) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Of the products of words that both opened."""
    both = one.kept & other.kept
    parts = [each.sums.products[np.ix_(both[each.kept], both[each.kept])] for each in (one, other)]
    return parts[0] - parts[1], both


@pytest.mark.parametrize("said", [13, 14, 15])
def test_a_peer_that_is_lost_after_the_first_label_is_not_shown_by_the_second(said: int) -> None:
    """Before, the first opening less the second was the sum of dee's own products."""
    terms = made_terms(text=GIVEN, recipe={"penalty": 0.1}, labels=LABELS)
    first, *rest = openings(terms, said)
    for later in rest:
        found, both = difference(first, later)
        rows = Features(GIVEN).rows(PEERS["dee"].texts)[:, both]
        assert not np.array_equal(found, rows.T @ rows)
    assert not rest


def test_a_peer_that_is_lost_before_anything_is_opened_is_left_out_of_all() -> None:
    terms = made_terms(text=GIVEN, recipe={"penalty": 0.1}, labels=LABELS)
    seen = openings(terms, 4)
    assert len(seen) == len(LABELS)
    assert {each.sums.count for each in seen} == {90}

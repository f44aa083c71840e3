"""A coordinator says that a peer is lost after the first of several labels, and takes a difference.

Of three labels there were three trainings in one run, and each opened its sums over those who were
left. The sums of products are the same for every label: with everybody for the first, without dee
for the second, and the difference was dee's own. Whoever proposes a run may name a label that
nobody uses, so that two labels did too. Now sums are opened once for all labels.
"""

from contextlib import suppress
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.openings import Opening
from support.text_runs import GIVEN, LABELS, made_holdings, made_peers, made_terms

from sottovoce.errors import StalledError, TooFewPartiesError
from sottovoce.learn.modes import open as open_training
from sottovoce.learn.ridge import ExampleSums, sums_of_labels
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message, Party

PEERS = made_peers(documents=30, labels=3)
NOTHING = ExampleSums(0, 0, np.zeros(0), np.zeros(0), np.zeros((0, 0)))
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
        if standard is None:
            first = sums_of_labels(total.ravel(), kept.width, terms.classifiers)[0]
            seen.append(Opening(first, kept.kept))
        else:
            seen.append(Opening(NOTHING, kept.kept))
        return solve(total, terms, kept, standard)

    holdings = made_holdings(PEERS)
    parties: list[Any] = [make_party(terms, name, holdings[name]) for name in terms.parties]
    parties[-1] = Unheard(parties[-1], most)
    with (
        mock.patch.object(open_training, "solved_statistics", looking),
        suppress(TooFewPartiesError, StalledError),
    ):
        Exchange(parties, faults=LOST).run()
    return seen


EXACT = {"penalty": 0.1}
RADOS = {"penalty": 0.1, "statistics": "rados", "rados": 50}


@pytest.mark.parametrize("said", range(4, 14))
@pytest.mark.parametrize("recipe", [EXACT, RADOS])
def test_what_all_labels_share_is_opened_once_whenever_a_peer_is_lost(
    said: int, recipe: dict[str, Any]
) -> None:
    """Before, the first opening less the second was the sum of dee's own products."""
    terms = made_terms(text=GIVEN, recipe=recipe, labels=LABELS)
    assert len(openings(terms, said)) <= 1


@pytest.mark.parametrize("recipe", [EXACT, RADOS])
def test_with_everybody_there_all_labels_have_one_opening(recipe: dict[str, Any]) -> None:
    terms = made_terms(text=GIVEN, recipe=recipe, labels=LABELS)
    assert len(openings(terms, 1 << 20)) == 1


def test_a_peer_that_is_lost_before_anything_is_opened_is_left_out_of_all() -> None:
    terms = made_terms(text=GIVEN, recipe=EXACT, labels=LABELS)
    (seen,) = openings(terms, 4)
    assert seen.sums.count == 90

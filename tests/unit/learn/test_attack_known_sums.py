"""What a peer can still do that knows the others' sums: no sums that pass do more than these.

It gives the difference between the others' sums and those of documents that it would rather have.
That passes, which the tables say; it moves the scores up to three times as far as the worst
documents that the peer could have made up.
"""

import math

import numpy as np
import pytest
from support.false_sums import Floats, peers_of, terms_of, trained, with_liar

from sottovoce.errors import FalseSummandError
from sottovoce.learn.modes.sums import check_total, weights_of_documents
from sottovoce.learn.ridge import ExampleSums, LinearModel, local_sums, ridge_from_sums
from sottovoce.learn.sums.fixed import PROJECTIONS
from sottovoce.learn.support import KeptFeatures
from sottovoce.learn.training_terms import LocalData

FACTOR = 3.1
LIAR = "peer00"


class Others:
    """The honest peers' rows, their classifier, and how far sums beside theirs move its scores."""

    def __init__(self, peers: dict[str, LocalData]) -> None:
        honest = [data for name, data in peers.items() if name != LIAR]
        self.rows = np.vstack([data.rows for data in honest])
        self.signs = np.concatenate([data.signs for data in honest])
        self.width = self.rows.shape[1]
        self.kept = KeptFeatures(np.ones(self.width, bool))
        self.sums = self.of(self.rows, self.signs)
        self.model = self.solved(np.zeros(self.sums.size))

    def of(self, rows: Floats, signs: Floats) -> Floats:
        return local_sums(rows, signs, self.kept).to_vector()

    def solved(self, beside: Floats) -> LinearModel:
        return ridge_from_sums(ExampleSums.from_vector(self.sums + beside, self.width), 0.1)

    def moved(self, beside: Floats) -> float:
        """The root of the mean square; labels are 1 and -1."""
        change = self.solved(beside).scores(self.rows) - self.model.scores(self.rows)
        return float(np.sqrt(np.mean(change**2)))

    def worst_documents(self, number: int) -> Floats:
        """Of documents of all words for one label or the other, and of the others' turned round."""
        likes = (self.model.coefficients > 0).astype(np.float64)
        order = np.argsort(-np.abs(self.model.scores(self.rows)))
        chosen = np.resize(order, number)
        found = [self.of(self.rows[chosen], -self.signs[chosen])]
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            cut = int(share * number)
            rows = np.vstack([np.tile(likes, (cut, 1)), np.tile(1 - likes, (number - cut, 1))])
            found.append(self.of(rows, np.repeat([-1.0, 1.0], (cut, number - cut))))
        return max(found, key=self.moved)

    def turned_round(self, share: float) -> Floats:
        """What makes the surest of the others' documents be of the other label."""
        order = np.argsort(-np.abs(self.model.scores(self.rows)))[: int(share * len(self.rows))]
        rows, signs = self.rows[order], self.signs[order]
        return self.of(rows, -signs) - self.of(rows, signs) if len(order) else 0 * self.sums


@pytest.mark.parametrize(("number", "each", "width"), [(3, 60, 12), (3, 1000, 20), (10, 100, 20)])
def test_sums_at_the_edge_move_scores_at_most_three_times_as_far_as_the_worst_documents(
    number: int, each: int, width: int
) -> None:
    peers = peers_of(number, each, width)
    others, terms = Others(peers), terms_of(peers)
    weights = weights_of_documents(terms, others.kept, tuple(peers))
    assert weights is not None
    most = weights._limit(LIAR) / math.sqrt(2 * PROJECTIONS) * terms.numbers().step
    made_up = others.worst_documents(each)
    accepted = []
    for share in np.linspace(0, 1, 21):
        crafted = made_up + others.turned_round(share)
        if np.linalg.norm(crafted * weights.scales) <= most:
            check_total(others.sums + crafted, terms, others.kept, terms.peers)
            accepted.append(others.moved(crafted))
    assert accepted
    assert max(accepted) <= FACTOR * others.moved(made_up)
    chance = np.random.default_rng(0)
    for _ in range(50):
        anywhere = chance.normal(size=made_up.size)
        anywhere[0] = 0.0
        crafted = made_up + np.rint(anywhere * most / np.linalg.norm(anywhere * weights.scales))
        with pytest.raises(FalseSummandError, match="the opened sums"):
            check_total(others.sums + crafted, terms, others.kept, terms.peers)


def test_one_liar_who_knows_the_others_sums_still_turns_the_classifier_round() -> None:
    """So the tables say; that they may say less, this would have to fail."""
    peers = peers_of(3, 60, 12)
    others = Others(peers)
    crafted = others.worst_documents(60) + others.turned_round(1.0)
    model, _ = trained(with_liar(peers, LIAR, lambda _: crafted))
    assert model.coefficients @ others.model.coefficients < 0

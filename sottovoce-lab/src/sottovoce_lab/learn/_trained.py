"""Learners of the table that several peers train: in clear, with sums encrypted, with theta hidden.

Each has the plain twin whose predictions it must give: the same rounded numbers, added up and
solved without any protocol.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.learn.estimators import own_rados
from sottovoce.learn.modes.hidden import (
    HiddenClassifier,
    HiddenCoordinator,
    HiddenKeyHolder,
    HiddenPeer,
)
from sottovoce.learn.modes.hidden_solve import HiddenSolve
from sottovoce.learn.modes.open import (
    TrainingCoordinator,
    TrainingPeer,
    local_statistics,
    moments_stage,
    opened_columns,
    solved_statistics,
    statistics_stage,
    supported_features,
    told_standard,
)
from sottovoce.learn.modes.queries import HiddenContributor, HiddenScorer, QueryTerms
from sottovoce.learn.paillier.keys import PrivateKey, generate_key
from sottovoce.learn.query_budget import planned_budget
from sottovoce.learn.rados.rados import RadoMoments
from sottovoce.learn.ridge import LinearModel, Standard, lift_model, local_sums, ridge_from_sums
from sottovoce.learn.support import KeptFeatures, all_kept
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, LocalData, Recipe, TrainingTerms
from sottovoce.learn.wire.exchange import Exchange, Traffic
from sottovoce.learn.wire.message import new_session
from sottovoce_lab.learn.data import Examples
from sottovoce_lab.learn.systems import (
    IntegerSystem,
    opened_integers,
    solved_exactly,
    summed_system,
)

Signs = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SeededData(LocalData):
    """A peer of a study, whose rados come from a seed, so that a plain twin can draw the same."""

    seed: int = 0

    def rado_moments(self, standard: Standard, number: int) -> Floats:
        """As `LocalData` has it, under signatures that the seed tells."""
        rados = own_rados(standard.apply(self.rows), self.signs, number, self.seed)
        moments = RadoMoments.from_rados(rados / np.sqrt(standard.count))
        upper = moments.covariance[np.triu_indices(moments.width)]
        return np.concatenate([moments.mean, upper])


@dataclass
class PeerTraining:
    """Examples dealt out to peers, and the terms on which they train."""

    examples: Examples
    recipe: Recipe
    peers: int = 4
    session: bytes = field(default_factory=new_session)

    @cached_property
    def holders(self) -> dict[str, LocalData]:
        """Row i is peer i modulo ``peers``'s."""
        rows, signs = self.examples
        has = np.ones(rows.shape[1], bool)
        return {
            f"peer{at}": SeededData(rows[at :: self.peers], signs[at :: self.peers], has, seed=at)
            for at in range(self.peers)
        }

    @cached_property
    def terms(self) -> TrainingTerms:
        """Enrolled peers, one dictionary, the recipe."""
        identities = {name: each.identity.public for name, each in self.holders.items()}
        names = tuple(f"x{at}" for at in range(self.examples.rows.shape[1]))
        return TrainingTerms(self.session, identities, names, self.recipe)

    @property
    def data(self) -> list[LocalData]:
        """Of all peers."""
        return list(self.holders.values())

    def decide_features(self) -> KeptFeatures:
        """Decided from plain supports."""
        counts = self.terms.counts()
        fewest = self.recipe.fewest_documents
        total = sum(counts.encode(each.support(fewest)) for each in self.data)
        return opened_columns(supported_features(np.asarray(total), self.terms), self.terms)

    def standard(self, kept: KeptFeatures) -> Standard:
        """From plain moments, rounded as the protocol rounds them."""
        stage = moments_stage(self.terms, kept, self.terms.peers)
        total = sum(stage.numbers.encode(each.moments(kept)) for each in self.data)
        return told_standard(stage, np.asarray(total), kept)


def plain_twin(given: PeerTraining) -> LinearModel:
    """The classifier of the same rounded summands, added up in clear."""
    kept = given.decide_features()
    standard = given.standard(kept) if given.recipe.statistics == "rados" else None
    numbers = statistics_stage(given.terms, kept, given.terms.peers).numbers
    parts = [local_statistics(each, given.terms, kept, standard) for each in given.data]
    total = sum(numbers.encode(part.ravel()) for part in parts)
    opened = numbers.decode(np.asarray(total))
    ((model, _),) = solved_statistics(opened, given.terms, kept, standard)
    return lift_model(model, kept)


def float_solution(given: PeerTraining) -> LinearModel:
    """Ridge in floating point on the pooled examples, of the kept features."""
    kept = given.decide_features()
    whole = kept.apply(given.examples.rows)
    sums = local_sums(whole, given.examples.signs, all_kept(whole.shape[1]))
    return lift_model(ridge_from_sums(sums, given.recipe.penalty or 0.0), kept)


@dataclass(frozen=True)
class StudyClassifier:
    """A classifier as a study sees it: all of it, whoever would have it."""

    model: LinearModel
    traffic: Traffic
    exact: bool

    def predict(self, rows: Floats) -> Signs:
        """Signs of scores."""
        return np.where(self.model.scores(rows) > 0, 1.0, -1.0)


def trained_in_clear(given: PeerTraining) -> StudyClassifier:
    """The plain twin itself."""
    return StudyClassifier(plain_twin(given), Traffic(), exact=True)


def open_trained(given: PeerTraining) -> StudyClassifier:
    """By the open mode's protocol; exact if theta is the plain twin's to the last bit."""
    peers = [TrainingPeer(name, given.terms, each) for name, each in given.holders.items()]
    traffic = Exchange([TrainingCoordinator(given.terms), *peers]).run()
    model, twin = peers[0].model, plain_twin(given)
    if model is None:
        raise ValueError("a training that ended has a classifier")
    same = np.array_equal(model.coefficients, twin.coefficients)
    return StudyClassifier(model, traffic, same and model.intercept == twin.intercept)


@dataclass(frozen=True)
class HiddenTrained(StudyClassifier):
    """A hidden classifier, opened by the study; and what a peer of its training needs to ask."""

    terms: TrainingTerms = field(repr=False, kw_only=True)
    known: HiddenClassifier = field(repr=False, kw_only=True)
    keys: tuple[PrivateKey, PrivateKey] = field(repr=False, kw_only=True)

    def ask(self, rows: Floats) -> tuple[Signs, Traffic]:
        """Classify by Protocol 3, as the first peer."""
        peers, known = self.terms.peers, self.known
        asker = peers[0]
        query = QueryTerms(
            new_session(), asker, (asker,), len(rows), known.modulus, known.score_bound, len(peers)
        )
        (own, held), width = self.keys, known.standard.kept.width
        peer = HiddenContributor(asker, [query], [known], [known.standard.apply(rows)])
        # Each helper keeps a budget of its own.
        budgets = ([planned_budget(self.terms.recipe, width, peers)] for _ in self.keys)
        helpers = [
            HiddenScorer(COORDINATOR, [query], own, held.public, next(budgets)),
            HiddenScorer(KEY_HOLDER, [query], held, own.public, next(budgets)),
        ]
        traffic = Exchange([peer, *helpers]).run()
        if peer.places is None:
            raise ValueError("a query that ended has an answer")
        return np.where(peer.places == 1, 1.0, -1.0), traffic


def hidden_trained(given: PeerTraining) -> HiddenTrained:
    """By the hidden mode's protocol; exact if the shares open to the plain solve's integers."""
    bits = given.recipe.key_bits
    keys = generate_key(bits), generate_key(bits)
    coordinator = HiddenCoordinator(given.terms, keys[0])
    holder = HiddenKeyHolder(given.terms, keys[1])
    peers = [HiddenPeer(name, given.terms, each) for name, each in given.holders.items()]
    traffic = Exchange([coordinator, holder, *peers]).run()
    own, held, known = coordinator.share, holder.share, peers[0].classifier
    if own is None or held is None or known is None:
        raise ValueError("a training that ended has shares")
    kept = given.decide_features()
    standard = given.standard(kept)
    plain = solved_exactly(hidden_twin(given, standard))
    opened = opened_integers(own, held)
    exact = opened == plain.adjugate
    theta = np.array([float(each) for each in plain.theta]) if exact else np.array(opened)
    model = lift_model(standard.unstandardise(theta), kept)
    return HiddenTrained(model, traffic, exact, terms=given.terms, known=known, keys=keys)


def hidden_twin(given: PeerTraining, standard: Standard) -> IntegerSystem:
    """The integers that the hidden mode solves, added up in clear."""
    recipe = given.recipe
    solve = HiddenSolve(recipe, recipe.penalty or 0.0, standard.width, given.terms.peers)
    parts = [
        solve.quantise(standard.apply(each.rows), each.signs, standard.count) for each in given.data
    ]
    matrix = sum((part[0] for part in parts), start=np.zeros_like(parts[0][0]))
    vector = sum((part[1] for part in parts), start=np.zeros_like(parts[0][1]))
    return summed_system(solve, matrix, vector)

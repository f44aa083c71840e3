"""Learners of the table that several peers train: in clear, with sums encrypted, with theta hidden.

Each has the plain twin whose predictions it must give: the same rounded numbers, added up and
solved without any protocol.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.examples import Floats
from sottovoce.learn.learners import all_kept, local_sums, ridge_from_sums
from sottovoce.learn.learners.classifier import own_rados
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.learners.support import KeptFeatures
from sottovoce.learn.party import Traffic, new_session
from sottovoce.learn.protocols.engines import OpenEngine, Query
from sottovoce.learn.protocols.given import Training
from sottovoce.learn.protocols.hidden_engine import HiddenEngine
from sottovoce.learn.protocols.local import LocalData
from sottovoce.learn.protocols.open_training import (
    kept_features,
    local_statistics,
    moments_stage,
    solved_statistics,
    statistics_stage,
    told_standard,
)
from sottovoce.learn.protocols.solving import HiddenSolve
from sottovoce.learn.protocols.standard import Standard, lifted
from sottovoce.learn.protocols.terms import Recipe, TrainingTerms
from sottovoce.learn.rados.moments import RadoMoments
from sottovoce.learn.solve import IntegerSystem, opened_integers, opened_theta, solved_exactly
from sottovoce.study.learn_parts.ionosphere import Examples

Signs = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SeededData(LocalData):
    """A peer of a study, whose rados come from a seed, so that a plain twin can draw the same."""

    seed: int = 0

    def rado_moments(self, standard: Standard, number: int) -> Floats:
        """As `LocalData` has it, under signatures that the seed tells."""
        rados = own_rados(standard.applied(self.rows), self.signs, number, self.seed)
        moments = RadoMoments.of(rados / np.sqrt(standard.count))
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
    def training(self) -> Training:
        """Row i is peer i modulo ``peers``'s."""
        rows, signs = self.examples
        names = tuple(f"x{at}" for at in range(rows.shape[1]))
        has = np.ones(len(names), bool)
        data: dict[str, LocalData] = {
            f"peer{at}": SeededData(rows[at :: self.peers], signs[at :: self.peers], has, seed=at)
            for at in range(self.peers)
        }
        return Training(data, dict.fromkeys(data, names), names, np.array([-1.0, 1.0]))

    @cached_property
    def terms(self) -> TrainingTerms:
        """Enrolled peers, one dictionary, the recipe."""
        identities = {n: each.identity.public for n, each in self.training.data.items()}
        return TrainingTerms(self.session, identities, self.training.dictionary, self.recipe)

    @property
    def data(self) -> list[LocalData]:
        """Of all peers."""
        return list(self.training.data.values())

    def kept(self) -> KeptFeatures:
        """Decided from plain supports."""
        counts = self.terms.counts()
        folds = self.recipe.opened_folds
        total = sum(counts.encode(each.support(folds).ravel()) for each in self.data)
        return kept_features(np.asarray(total), self.terms)

    def standard(self, kept: KeptFeatures) -> Standard:
        """From plain moments, rounded as the protocol rounds them."""
        stage = moments_stage(self.terms, kept, self.terms.peers)
        total = sum(stage.numbers.encode(each.moments(kept)) for each in self.data)
        return told_standard(stage, np.asarray(total), kept)


def plain_twin(given: PeerTraining) -> LinearModel:
    """The classifier of the same rounded summands, added up in clear."""
    kept = given.kept()
    standard = given.standard(kept) if given.recipe.statistics == "rados" else None
    numbers = statistics_stage(given.terms, kept, given.terms.peers).numbers
    parts = [local_statistics(each, given.terms, kept, standard) for each in given.data]
    total = sum(numbers.encode(part.ravel()) for part in parts)
    model, _ = solved_statistics(numbers.decode(np.asarray(total)), given.terms, kept, standard)
    return lifted(model, kept)


def float_solution(given: PeerTraining) -> LinearModel:
    """Ridge in floating point on the pooled examples, of the kept features."""
    kept = given.kept()
    whole = kept.applied(given.examples.rows)
    sums = local_sums(whole, given.examples.signs, all_kept(whole.shape[1]))
    return lifted(ridge_from_sums(sums, given.recipe.penalty or 0.0), kept)


@dataclass(frozen=True)
class Trained:
    """A classifier as a study sees it: all of it, whoever would have it."""

    model: LinearModel
    traffic: Traffic
    exact: bool

    def predict(self, rows: Floats) -> Signs:
        """Signs of scores."""
        return np.where(self.model.scores(rows) > 0, 1.0, -1.0)


def open_trained(given: PeerTraining) -> Trained:
    """By the open mode's protocol; exact if theta is the plain twin's to the last bit."""
    engine = OpenEngine(given.terms, given.training)
    model, twin = engine.model, plain_twin(given)
    if model is None:
        raise ValueError("a training that ended has a classifier")
    same = np.array_equal(model.coefficients, twin.coefficients)
    return Trained(model, engine.exchange.traffic, same and model.intercept == twin.intercept)


@dataclass(frozen=True)
class HiddenTrained(Trained):
    """A hidden classifier, opened by the study; and its parties, to ask."""

    engine: HiddenEngine = field(repr=False, kw_only=True)

    def asked(self, rows: Floats) -> tuple[Signs, Traffic]:
        """Classify by Protocol 3, as the first peer."""
        signs, traffic = self.engine.signs(Query("peer0", {"peer0": rows}))
        return signs.astype(np.float64), traffic


def hidden_trained(given: PeerTraining) -> HiddenTrained:
    """By the hidden mode's protocol; exact if the shares open to the plain solve's integers."""
    engine = HiddenEngine(given.terms, given.training)
    own, held = engine._coordinator.share, engine._holder.share  # noqa: SLF001 - a study opens it
    if own is None or held is None:
        raise ValueError("a training that ended has shares")
    kept = given.kept()
    standard = given.standard(kept)
    plain = solved_exactly(hidden_twin(given, standard))
    if given.recipe.solver == "chebyshev":
        exact, theta = False, opened_theta(own, held)
    else:
        opened = opened_integers(own, held)
        exact = opened == plain.adjugate
        theta = np.array([float(each) for each in plain.theta]) if exact else np.array(opened)
    model = lifted(standard.undone(theta), kept)
    return HiddenTrained(model, engine.exchange.traffic, exact, engine=engine)


def hidden_twin(given: PeerTraining, standard: Standard) -> IntegerSystem:
    """The integers that the hidden mode solves, added up in clear."""
    recipe = replace(given.recipe, penalty=given.recipe.penalty)
    solve = HiddenSolve(recipe, recipe.penalty or 0.0, standard.width, given.terms.peers)
    parts = [
        solve.quantised(standard.applied(each.rows), each.signs, standard.count)
        for each in given.data
    ]
    matrix = sum((part[0] for part in parts), start=np.zeros_like(parts[0][0]))
    vector = sum((part[1] for part in parts), start=np.zeros_like(parts[0][1]))
    return solve.system(matrix, vector)

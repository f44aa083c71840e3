"""The lines of the learners' table: what each is, how it is fitted, and what it must agree with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sottovoce.learn.estimators import MLossClassifier, RadoBoostClassifier
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.training_terms import Recipe
from sottovoce.learn.wire.exchange import Traffic
from sottovoce_lab.learn._data import TEXTS, Examples
from sottovoce_lab.learn._trained import (
    HiddenTrained,
    PeerTraining,
    StudyClassifier,
    float_solution,
    hidden_trained,
    open_trained,
    plain_twin,
)

KEY_BITS = 2048
# One for all closed forms and not tuned on the rows: the middle of ridge's candidates.
PENALTY = 0.1
ALL_RADOS = "all, by sums"


@dataclass(frozen=True)
class LearnTableSizes:
    """How much work the study does.

    Attributes:
        folds: of the cross-validation.
        rados: how many rados, and how many each of four peers makes.
        documents: of each set of texts.
        words: features of texts.
        hidden_words: features of texts where theta is hidden.
        places: binary places of hidden systems.
        asked: how many rows are classified by Protocol 3.
        texts: which sets of texts.
    """

    folds: int = 10
    rados: int = 1000
    documents: int = 5000
    words: int = 200
    hidden_words: int = 40
    places: int = 30
    asked: int = 5
    texts: tuple[str, ...] = TEXTS


QUICK = LearnTableSizes(
    folds=2, rados=200, documents=600, words=30, hidden_words=8, places=14, asked=1, texts=TEXTS[:1]
)


class Paper(NamedTuple):
    """The paper's figures, where it has some."""

    error: float | None = None
    seconds: float | None = None


NO_FIGURES = Paper()


@dataclass(frozen=True)
class TableLine:
    """One line of the table: what it is, how it is fitted, and what its twin is.

    Attributes:
        algorithm: as the paper calls it, or what ours is.
        peers: how many hold the rows.
        rados: plain, encrypted, or how they are had.
        theta: plain or encrypted.
        fitted: learns from examples; the result predicts.
        paper: the paper's figures.
        cross_validated: fits for cross-validation, where ``fitted`` takes too long for that; it
            gives the same classifier.
        twin: the classifier in clear that must predict the same.
        floating: the floating-point solve, whose theta must be close.
    """

    algorithm: str
    peers: int
    rados: str
    theta: str
    fitted: Callable[[Examples], Any]
    paper: Paper = NO_FIGURES
    cross_validated: Callable[[Examples], Any] | None = None
    twin: Callable[[Examples], LinearModel] | None = None
    floating: Callable[[Examples], LinearModel] | None = None


def lines(sizes: LearnTableSizes) -> list[TableLine]:
    """The paper's six rows, and ours."""
    return [*_single_lines(sizes), *_peer_lines(sizes), *_hidden_lines(sizes)]


def text_lines(sizes: LearnTableSizes) -> list[TableLine]:
    """The rows with theta in clear, for more features than Ionosphere has."""
    return [*_single_lines(sizes), *_peer_lines(sizes)]


def few_features_lines(sizes: LearnTableSizes) -> list[TableLine]:
    """Ridge in clear and with theta hidden, for so few features that its solve is quick."""
    recipe = Recipe(penalty=PENALTY)
    plain = TableLine(
        "ridge", 4, ALL_RADOS, "plain", _twin_fitted(recipe), floating=_floating(recipe)
    )
    return [plain, replace(_hidden_lines(sizes)[0], paper=NO_FIGURES)]


def _single_lines(sizes: LearnTableSizes) -> list[TableLine]:
    number = sizes.rados
    return [
        TableLine(
            "LogisticRegression (baseline)", 1, "plain", "plain",
            lambda given: make_pipeline(
                StandardScaler(), LogisticRegression(max_iter=2000)
            ).fit(*given),
            Paper(0.049, 0.13),
        ),
        TableLine(
            "radoBoost", 1, "plain", "plain",
            lambda given: RadoBoostClassifier(number, random_state=0).fit(*given),
            Paper(0.12, 1.4),
        ),
        TableLine(
            "radoLearn using rados from radoBoost", 1, "plain", "plain",
            lambda given: MLossClassifier(number, penalty=PENALTY, random_state=0).fit(*given),
            Paper(0.20, 0.069),
        ),
    ]  # fmt: skip


def _peer_lines(sizes: LearnTableSizes) -> list[TableLine]:
    rados = Recipe(statistics="rados", rados=sizes.rados, penalty=PENALTY, key_bits=KEY_BITS)
    sums = Recipe(penalty=PENALTY, key_bits=KEY_BITS)
    return [
        TableLine("radoLearn", 4, "plain", "plain", _twin_fitted(rados), Paper(0.089, 0.12)),
        TableLine(
            "radoLearn", 4, "masked", "plain", _open_fitted(rados), Paper(0.10, 75.0),
            twin=_twin(rados),
        ),
        TableLine("ridge", 4, ALL_RADOS, "plain", _twin_fitted(sums), floating=_floating(sums)),
        TableLine(
            "ridge, pairwise masks", 4, f"{ALL_RADOS}, masked", "plain", _open_fitted(sums),
            twin=_twin(sums), floating=_floating(sums),
        ),
    ]  # fmt: skip


def _hidden_lines(sizes: LearnTableSizes) -> list[TableLine]:
    masked = Recipe(
        penalty=PENALTY, key_bits=KEY_BITS, fraction_bits=sizes.places, queries=sizes.asked
    )
    plain = Recipe(penalty=PENALTY)
    return [
        TableLine(
            "radoLearn's closed form, masked solve", 4, f"{ALL_RADOS}, encrypted", "encrypted",
            _hidden_fitted(masked), Paper(0.085, 87.0), cross_validated=_twin_fitted(masked),
            twin=_twin(plain), floating=_floating(plain),
        ),
    ]  # fmt: skip


def _twin_fitted(recipe: Recipe) -> Callable[[Examples], StudyClassifier]:
    return lambda given: StudyClassifier(
        plain_twin(PeerTraining(given, recipe)), Traffic(), exact=True
    )


def _open_fitted(recipe: Recipe) -> Callable[[Examples], StudyClassifier]:
    return lambda given: open_trained(PeerTraining(given, recipe))


def _hidden_fitted(recipe: Recipe) -> Callable[[Examples], HiddenTrained]:
    return lambda given: hidden_trained(PeerTraining(given, recipe))


def _twin(recipe: Recipe) -> Callable[[Examples], LinearModel]:
    return lambda given: plain_twin(PeerTraining(given, recipe))


def _floating(recipe: Recipe) -> Callable[[Examples], LinearModel]:
    return lambda given: float_solution(PeerTraining(given, recipe))

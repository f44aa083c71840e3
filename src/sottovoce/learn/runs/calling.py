"""From scores or signs to label names."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.runs.agreeing import WrongExamplesError, lifted_rows
from sottovoce.learn.runs.classifiers import read_model
from sottovoce.learn.runs.records import Trained
from sottovoce.learn.runs.terms import RunTerms
from sottovoce.learn.texts.documents import Documents, Examples

UNDECIDED = ""  # no label's name is empty


class WrongTrainingError(InputError):
    """A party brings the result of another training than the run names."""


def check_training(session: bytes, terms: RunTerms, name: str) -> None:
    """Refuse another training's result."""
    if session != terms.training:
        raise WrongTrainingError(
            f"{name} must bring its result of the training that this run names, got another's."
        )


def trained_rows(trained: Trained, examples: Examples) -> Floats:
    """Examples over the columns of a training."""
    if isinstance(examples, Documents) != (trained.features is not None):
        wanted = "documents" if trained.features is not None else "rows of numbers"
        raise WrongExamplesError(f"this classifier is of {wanted}: bring those.")
    return lifted_rows(examples, trained.features, trained.agreed)


def models(trained: Trained) -> list[LinearModel]:
    """The classifiers of the open mode."""
    return [read_model(each, len(trained.names)) for each in trained.classifiers]


def scores(trained: Trained, examples: Examples) -> Floats:
    """A score per row and classifier: positive for the second of two labels, or for its own."""
    rows = trained_rows(trained, examples)
    return np.column_stack([model.scores(rows) for model in models(trained)])


def labels_from_scores(found: Floats, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Of two labels the second where the score is positive; of more that of the largest score."""
    if found.shape[1] == 1:
        return labels_from_signs(np.where(found > 0, 1, -1), labels)
    return tuple(labels[at] for at in found.argmax(axis=1))


def labels_from_signs(signs: NDArray[np.int64], labels: tuple[str, ...]) -> tuple[str, ...]:
    """Of two labels by the sign; of more the one whose sign alone is positive, or undecided.

    Signs do not say which of two positive scores is the larger.
    """
    if signs.shape[1] == 1:
        return tuple(labels[int(sign > 0)] for sign in signs[:, 0])
    alone = (signs > 0).sum(axis=1) == 1
    best = (signs > 0).argmax(axis=1)
    return tuple(labels[at] if sure else UNDECIDED for at, sure in zip(best, alone, strict=True))


def called(trained: Trained, examples: Examples) -> tuple[str, ...]:
    """The label of each row, by a classifier that this peer can read."""
    if trained.mode != "open":
        raise WrongTrainingError(
            "this classifier is nobody's to read: ask with a run of kind classify."
        )
    return labels_from_scores(scores(trained, examples), trained.labels)

"""What `train` and the learners refuse of a holder, without quoting what it holds."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from support.text_runs import NAMES, made_texts
from support.trainings import small_peers

from sottovoce.errors import InputError
from sottovoce.learn import (
    FederatedTextClassifier,
    MLossClassifier,
    RadoBoostClassifier,
    RadoDescentClassifier,
    SummedRidgeClassifier,
    train,
)

if TYPE_CHECKING:
    from collections.abc import Callable

HASHED: dict[str, Any] = {"dictionary": "hashed", "width": 30, "penalty": 0.1}
PAIRS = {name: made_texts(40, at) for at, name in enumerate(NAMES)}
PRIVATE = "a sentence that is nobody's business"
TEXTS, LABELS = [PRIVATE] * 12, ["ham", "spam"] * 6


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ([None, *TEXTS[1:]], "1 of 12: leave out the rows without a text"),
        (pd.Series([np.nan, *TEXTS[1:]]), "1 of 12: leave out the rows without a text"),
        (pa.array([None, *TEXTS[1:]]), "1 of 12: leave out the rows without a text"),
        (pd.DataFrame({"text": TEXTS}), "rows of numbers"),
        ([[text] for text in TEXTS], "rows of numbers"),
    ],
    ids=["a list", "a series", "an arrow array", "a frame", "rows"],
)
def test_texts_that_cannot_be_used_are_refused_without_a_word_of_them(
    texts: Any,  # noqa: ANN401 - a user's mistake
    sentence: str,
) -> None:
    with pytest.raises(InputError, match=sentence) as refused:
        train([(texts, LABELS)] * 3)
    assert PRIVATE not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_texts_are_no_rows_for_a_classifier_of_numbers() -> None:
    trained = train(small_peers(), penalty=0.1)
    frame = pd.DataFrame({"user": ["u17"] * 2, "text": TEXTS[:2]})
    for asked in (frame, TEXTS):
        with pytest.raises(InputError, match="rows of numbers") as refused:
            trained.predict(asked)
        assert "u17" not in str(refused.value)
        assert PRIVATE not in str(refused.value)


def test_texts_in_arrow_arrays_and_generators_are_read_whole() -> None:
    plain = train(PAIRS, **HASHED)
    arrow = train({name: (pa.array(texts), y) for name, (texts, y) in PAIRS.items()}, **HASHED)
    np.testing.assert_array_equal(arrow.coef_, plain.coef_)
    lazy = train({name: (iter(texts), y) for name, (texts, y) in PAIRS.items()}, **HASHED)
    np.testing.assert_array_equal(lazy.coef_, plain.coef_)
    asked = PAIRS["ada"][0]
    np.testing.assert_array_equal(plain.predict(pa.array(asked)), plain.predict(asked))
    classifier = FederatedTextClassifier(**HASHED).fit(
        {name: (pa.array(texts), y) for name, (texts, y) in PAIRS.items()}
    )
    np.testing.assert_array_equal(classifier.predict(pa.array(asked)), plain.predict(asked))


LEARNERS = [
    RadoBoostClassifier(30, rounds=10),
    RadoDescentClassifier(30),
    MLossClassifier(30),
    SummedRidgeClassifier(),
]
NOT_NUMBERS: dict[str, Any] = {
    "a list": TEXTS,
    "a series": pd.Series(TEXTS),
    "an arrow array": pa.array(TEXTS),
    "a column": [[text] for text in TEXTS],
    "beside numbers": [[1.0, text] for text in TEXTS],
    "ragged": [[text] * (1 + at % 2) for at, text in enumerate(TEXTS)],
    "a frame": pd.DataFrame({"text": TEXTS}),
    "a frame of arrow's": pd.DataFrame({"text": pd.array(TEXTS, dtype="string[pyarrow]")}),
    "an arrow table": pa.table({"text": TEXTS}),
    "a single text": PRIVATE,
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("form", NOT_NUMBERS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_of_numbers_refuse_texts_without_a_word_of_them(
    learner: SummedRidgeClassifier, form: str
) -> None:
    fitted = clone(learner).fit([[0.0, 1.0], [1.0, 0.0]] * 6, LABELS)
    calls: tuple[Callable[[], object], ...] = (
        lambda: clone(learner).fit(NOT_NUMBERS[form], LABELS),
        lambda: fitted.predict(NOT_NUMBERS[form]),
        lambda: fitted.decision_function(NOT_NUMBERS[form]),
    )
    for call in calls:
        with pytest.raises(InputError, match="got texts among them") as refused:
            call()
        assert PRIVATE not in str(refused.value)
        assert refused.value.__suppress_context__


def test_a_learner_does_not_quote_numbers_that_are_no_matrix() -> None:
    with pytest.raises(InputError, match="Reshape your data") as refused:
        SummedRidgeClassifier().fit([271828.0, 314159.0], ["no", "yes"])
    assert "271828" not in str(refused.value)

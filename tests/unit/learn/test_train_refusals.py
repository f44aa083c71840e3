"""What `train` and the learners refuse of a holder, without quoting what it holds."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.text_runs import NAMES, made_texts
from support.trainings import small_peers

from sottovoce.errors import InputError
from sottovoce.learn import FederatedTextClassifier, train

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

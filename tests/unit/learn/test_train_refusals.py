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


@pytest.mark.parametrize(
    "labels",
    [
        [*LABELS[:9], None, None, None],
        [*LABELS[:9], *[float("nan")] * 3],
        pd.Series([*LABELS[:9], *[None] * 3]),
        pd.Series([1, 0, 1] * 3 + [None] * 3, dtype="Int64"),
        [1, 0, 1] * 3 + [pd.NA] * 3,
        np.array([1.0, 0.0, 1.0] * 3 + [np.nan] * 3),
        pa.array([*LABELS[:9], *[None] * 3]),
        pd.Series([1, 0, 1] * 3 + [None] * 3, dtype="category"),
    ],
    ids=["None", "NaN", "a series", "Int64", "NA", "floats", "arrow", "a categorical"],
)
def test_missing_labels_are_counted_and_refused(labels: Any) -> None:  # noqa: ANN401 - any labels
    for holders in (PAIRS["ada"][0][:12], [[0.0, 1.0], [1.0, 0.0]] * 6):
        with pytest.raises(InputError, match="every row, got 3 of 12 without one; leave out"):
            train([(holders, labels)] * 3, **(HASHED if isinstance(holders[0], str) else {}))


def with_gaps(texts: list[str], labels: list[str]) -> pd.DataFrame:
    """A frame whose first row has no label, and whose second no text."""
    frame = pd.DataFrame({"text": texts, "label": labels})
    frame.loc[0, "label"] = None
    frame.loc[1, "text"] = None
    return frame


def test_rows_of_a_frame_that_are_left_out_are_counted() -> None:
    frames = {name: with_gaps(*pair) for name, pair in PAIRS.items()}
    skipped = "^rows were skipped, of 160 rows: 4 missing text, 4 missing label$"
    with pytest.warns(UserWarning, match=skipped) as told:
        trained = train(frames, **HASHED)
    assert [each.filename for each in told] == [__file__]
    whole = train({name: (texts[2:], y[2:]) for name, (texts, y) in PAIRS.items()}, **HASHED)
    np.testing.assert_array_equal(trained.coef_, whole.coef_)
    with pytest.warns(UserWarning, match="of 40 rows: 1 missing text$"):
        assert len(trained.predict(frames["ada"])) == 39
    with pytest.warns(UserWarning, match="of 40 rows: 1 missing text, 1 missing label"):
        trained.evaluate(frames)


def test_numbers_at_one_holder_and_truth_values_at_another_are_refused() -> None:
    texts = PAIRS["ada"][0][:12]
    for held, options in ((texts, HASHED), ([[0.0, 1.0], [1.0, 0.0]] * 6, {"penalty": 0.1})):
        numbers, truths = (held, [0, 1] * 6), (held, [False, True] * 6)
        with pytest.raises(InputError, match="truth values at one and numbers at another"):
            train([numbers, truths, numbers], **options)


def test_names_of_holders_are_text() -> None:
    with pytest.raises(InputError, match="names of holders must be text"):
        train(dict(enumerate(PAIRS.values())), **HASHED)  # type: ignore[arg-type] # what is refused


FRAMES: dict[str, tuple[Any, str]] = {
    "mixed": (pd.DataFrame({"text": [3, *TEXTS[1:]], "label": LABELS}), "one kind of value"),
    "repeated": (
        pd.DataFrame([[PRIVATE, 1, 2]] * 12, columns=["text", "label", "label"]),
        "several columns of one name",
    ),
    "repeated in arrow": (
        pa.table([TEXTS, LABELS, LABELS], names=["text", "label", "label"]),
        "several columns of one name",
    ),
    "no label": (pd.DataFrame({"text": TEXTS}), "label='NAME' of train"),
    "no text": (pd.DataFrame({"label": LABELS}), "training: text='NAME', label='NAME'"),
}


@pytest.mark.parametrize("form", FRAMES)
def test_a_frame_that_cannot_be_used_is_refused_without_its_texts(form: str) -> None:
    frame, sentence = FRAMES[form]
    with pytest.raises(InputError, match=sentence) as refused:
        train([frame] * 3, **HASHED)
    assert PRIVATE not in str(refused.value)


def test_a_frame_to_classify_is_refused_without_its_texts() -> None:
    trained = train(PAIRS, **HASHED)
    for form in ("mixed", "repeated", "no text"):
        with pytest.raises(InputError, match=FRAMES[form][1]) as refused:
            trained.predict(FRAMES[form][0])
        assert PRIVATE not in str(refused.value)


def test_too_many_labels_are_refused_with_what_a_caller_can_do() -> None:
    holders = [
        (PAIRS["ada"][0][:12], [f"label {at} of {peer}" for at in range(12)]) for peer in range(3)
    ]
    with pytest.raises(InputError, match="join the rare ones") as refused:
        train(holders, **HASHED)
    assert "most_classes" not in str(refused.value)

"""What is given in the wrong way is refused in a sentence, or read as it was meant."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import sottovoce as sv
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.loop.subject import read_subject

PRIVATE_TEXT = "zebra my secret loan"


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(pl.Series([PRIVATE_TEXT]), id="a series of polars"),
        pytest.param(pd.Series([None, PRIVATE_TEXT]), id="a missing text first"),
        pytest.param([float("nan"), PRIVATE_TEXT], id="NaN first"),
        pytest.param(pa.array([PRIVATE_TEXT]), id="an array of Arrow"),
        pytest.param(pa.chunked_array([[None, PRIVATE_TEXT]]), id="chunks of Arrow"),
        pytest.param([{"text": PRIVATE_TEXT}], id="dictionaries"),
        pytest.param([PRIVATE_TEXT.encode()], id="bytes"),
        pytest.param(PRIVATE_TEXT, id="one text"),
        pytest.param(np.array(PRIVATE_TEXT), id="an array without axes"),
        pytest.param((PRIVATE_TEXT,), id="a tuple"),
        pytest.param(pd.Series([PRIVATE_TEXT]), id="a series of pandas"),
    ],
)
def test_texts_given_for_counts_are_never_quoted(texts: object) -> None:
    with pytest.raises(CorpusError, match="put a CountVectorizer first") as refused:
        sv.release.PrivateBagOfWords().fit(cast("Any", texts))
    assert "zebra" not in str(refused.value)


@pytest.mark.parametrize(
    "matrix",
    [
        pytest.param(pl.DataFrame({"text": [PRIVATE_TEXT]}), id="a frame of polars"),
        pytest.param(pd.DataFrame({"text": [PRIVATE_TEXT]}), id="a frame of pandas"),
        pytest.param(pa.table({"text": [PRIVATE_TEXT]}), id="a table of Arrow"),
        pytest.param([[1, PRIVATE_TEXT]], id="rows"),
        pytest.param([[[PRIVATE_TEXT]]], id="rows of rows"),
        pytest.param([[1 + 77j]], id="complex numbers"),
        pytest.param([77, 78], id="one row"),
    ],
)
def test_an_unusable_matrix_is_never_quoted(matrix: object) -> None:
    with pytest.raises(CorpusError) as refused:
        sv.release.PrivateBagOfWords().fit(cast("Any", matrix))
    assert "zebra" not in str(refused.value)
    assert "77" not in str(refused.value)


WORDS = ("bank", "boat", "loan")
TOPICS = (
    sv.topics.Topic("debt", ("loan", "bank"), "money", sensitive=True),
    sv.topics.Topic("sea", ("boat",), "travel"),
)


def released(documents: object, folder: Path, **options: Any) -> sv.release.Release:  # noqa: ANN401 - of any type
    given = {"words": WORDS, "epsilon": 2, "precision": 2, **options}
    made = sv.release_counts(cast("Any", documents), ledger=folder / "my.ledger", **given)
    assert isinstance(made, sv.release.Release)
    return made


def posts() -> pd.DataFrame:
    texts = ["my loan", "the boat", "a bank and a loan", "nothing", "the boat", "home"]
    return pd.DataFrame(
        {
            "user": [f"u{i}" for i in range(6)],
            "time": pd.to_datetime([f"2024-01-0{i + 1}" for i in range(6)]),
            "text": texts,
        }
    )


def test_a_document_of_more_than_two_values_must_say_where_its_text_is(tmp_path: Path) -> None:
    rows = [("ada", "2024-01-01", "my loan"), ("ben", "2024-01-02", "the boat")]
    with pytest.raises(CorpusError, match=r"a tuple \(text, label\); got one of 3 values"):
        released(rows, tmp_path)
    with pytest.raises(CorpusError, match="got one of 3 values"):
        released([("my loan",), *rows], tmp_path)
    assert not (tmp_path / "my.ledger").exists()
    named = released(rows, tmp_path, text=2)
    same = released(["my loan", "the boat"], tmp_path)
    assert named.card.ledger == same.card.ledger


def test_the_place_of_a_text_is_enough_where_times_are_no_labels(tmp_path: Path) -> None:
    rows = [("ada", datetime(2024, 1, 1, tzinfo=UTC), "my loan")]
    assert released(rows, tmp_path, text=2).counts.shape == (1, 3)


def chunked(texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([texts[:1], texts[1:]])


@pytest.mark.parametrize("column", [pd.Series, pl.Series, pa.array, chunked])
def test_a_series_is_read_as_texts(column: Callable[[list[str]], object], tmp_path: Path) -> None:
    texts = ["my loan", "the boat"]
    spends = [released(each, tmp_path).card.ledger for each in (texts, column(texts))]
    assert spends[0] == spends[1]


def test_a_missing_text_of_a_series_is_counted_as_missing(tmp_path: Path) -> None:
    for texts in (pd.Series(["my loan", None]), pd.Series(["my loan", np.nan], dtype=object)):
        with pytest.raises(ParameterError, match="1 missing text"):
            released(texts, tmp_path)


@pytest.mark.parametrize("column", [pd.Series, pl.Series, pa.array])
def test_a_series_is_no_posts(column: Callable[[list[str]], object]) -> None:
    with pytest.raises(CorpusError, match="posts need a user, a time and a text, got one column"):
        sv.assess_posts(cast("Any", column(["my loan"])), topics=TOPICS)


def test_a_lazy_frame_is_to_be_collected(tmp_path: Path) -> None:
    lazy = pl.from_pandas(posts()).lazy()
    with pytest.raises(CorpusError, match=r"pass its \.collect\(\)"):
        released(lazy, tmp_path)


def test_repeated_columns_of_pandas_are_named(tmp_path: Path) -> None:
    twice = posts().assign(more="x").rename(columns={"more": "text"})
    for read in (
        lambda: sv.assess_posts(twice, topics=TOPICS),
        lambda: released(twice, tmp_path),
        lambda: sv.loop.compare_settings(twice, topics=TOPICS),
    ):
        with pytest.raises(CorpusError, match="has 2 columns named 'text'; map text by position"):
            read()
    assert sv.assess_posts(twice, topics=TOPICS, text=2).users == 6


def test_a_repeated_column_that_is_not_read_does_no_harm() -> None:
    twice = posts().assign(a="x", b="y").rename(columns={"b": "a"})
    assert sv.assess_posts(twice, topics=TOPICS).users == 6


def test_the_index_of_a_frame_of_pandas_is_a_column_too() -> None:
    assert sv.assess_posts(posts().set_index("user"), topics=TOPICS).users == 6


def renamed(frame: pd.DataFrame) -> None:
    frame.insert(2, "note", "the boat")


def rewritten(frame: pd.DataFrame) -> None:
    frame["text"] = "the boat"


def written_into(frame: pd.DataFrame) -> None:
    frame.loc[:, "time"] = pd.Timestamp("1999-01-01")


@pytest.mark.parametrize("change", [renamed, rewritten, written_into])
def test_what_is_done_to_a_frame_later_does_not_show(
    change: Callable[[pd.DataFrame], None],
) -> None:
    frame = posts()
    ranking = sv.assess_posts(frame, topics=TOPICS, measures="bow-dt")
    before = ranking.explain("u2", "debt")
    change(frame)
    assert ranking.explain("u2", "debt") == before


def test_a_frame_of_polars_is_read_as_it_was() -> None:
    frame = pl.from_pandas(posts())
    ranking = sv.assess_posts(frame, topics=TOPICS, measures="bow-dt")
    before = ranking.explain("u2", "debt")
    frame.insert_column(2, pl.Series("note", ["the boat"] * 6))
    assert ranking.explain("u2", "debt") == before


def test_the_order_of_a_set_of_words_makes_no_other_release(tmp_path: Path) -> None:
    shuffled = ["loan", *(f"word{chr(97 + i)}" for i in range(20))]
    spends = [
        released(["my loan"], tmp_path, words=words).card.ledger
        for words in (sorted(shuffled), set(shuffled), frozenset(shuffled))
    ]
    assert spends[0] == spends[1] == spends[2]


def test_a_topic_named_twice_is_ranked_once() -> None:
    ranking = sv.assess_posts(posts(), topics=TOPICS, measures="bow", topic=["debt", "debt"])
    assert ranking.table.num_rows == ranking.users == 6


@pytest.mark.parametrize("most", [0, -1])
def test_an_explanation_shows_at_least_one_post(most: int) -> None:
    ranking = sv.assess_posts(posts(), topics=TOPICS, measures="bow-dt")
    with pytest.raises(ParameterError, match=f"most must be >= 1, got {most}"):
        ranking.explain("u2", "debt", most=most)


def test_a_ranking_says_which_measures_and_topics_it_has() -> None:
    ranking = sv.assess_posts(posts(), topics=TOPICS, measures="bow,bow-dt")
    with pytest.raises(ParameterError, match="measure must be one of bow, bow-dt, got 'nope'"):
        ranking.select("nope", "debt")
    with pytest.raises(ParameterError, match="topic must be one of debt, got 'nope'"):
        ranking.select("bow", "nope")


def test_a_word_is_no_list_of_letters() -> None:
    with pytest.raises(ParameterError, match=r"words must be a tuple of words, got one text"):
        sv.topics.Topic("debt", cast("Any", "loan"), "money")
    with pytest.raises(ParameterError, match="terms must be a list of words, got one text"):
        sv.corpus.Vocabulary.public("loan")
    with pytest.raises(ParameterError, match="texts must be a list of texts, got one text"):
        sv.corpus.tokenize("loan debt")


@pytest.mark.parametrize("topics", [["debt"], {"debt": ["loan"]}, [{"name": "debt"}], 5])
def test_topics_of_another_kind_are_refused(topics: object) -> None:
    with pytest.raises(InputError, match="topics must be a Catalogue, the path of its TOML file"):
        sv.assess_posts(posts(), topics=cast("Any", topics))


@pytest.mark.parametrize(("option", "value"), [("m", "3"), ("m", 2.5), ("k", "0.3"), ("topic", [])])
def test_settings_of_another_type_are_refused(option: str, value: object) -> None:
    got = value or "none"
    with pytest.raises(ParameterError, match=f"{option} must .*, got {got}"):
        sv.assess_posts(posts(), topics=TOPICS, **{option: cast("Any", value)})


def test_how_to_read_is_said_by_read_options(tmp_path: Path) -> None:
    nothing = cast("Any", {})
    for read in (
        lambda: sv.assess_posts(posts(), topics=TOPICS, reading=nothing),
        lambda: released(posts(), tmp_path, reading=nothing),
        lambda: sv.loop.compare_settings(posts(), topics=TOPICS, reading=nothing),
    ):
        with pytest.raises(ParameterError, match="reading must be a ReadOptions, got a dict"):
            read()


def test_a_pipeline_names_the_columns_by_its_words() -> None:
    counter = CountVectorizer(vocabulary=WORDS)
    pipeline = make_pipeline(counter, sv.release.PrivateBagOfWords()).fit(["my loan"])
    assert pipeline.get_feature_names_out().tolist() == list(WORDS)


def test_names_of_columns_are_the_vocabulary_s_or_as_many_as_columns() -> None:
    listed = sv.release.PrivateBagOfWords(vocabulary=WORDS).fit([[1, 0, 3]])
    assert listed.get_feature_names_out(["a", "b", "c"]).tolist() == list(WORDS)
    private = sv.release.PrivateBagOfWords().fit([[1, 0, 3]])
    assert private.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    with pytest.raises(ParameterError, match="input_features must name the 3 columns, got 2"):
        private.get_feature_names_out(["a", "b"])


TRUTH = {
    "user": [f"u{i}" for i in range(6)],
    "topic": ["debt"] * 6,
    "persona": ["afflicted", *["bystander"] * 5],
    "sensitive": [True, False, False, False, False, False],
    "grade": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_truth_may_be_any_frame(frame: Callable[[object], object]) -> None:
    judged = read_subject(posts(), topics=TOPICS, truth=cast("Any", frame(TRUTH))).judged
    assert [topic.sensitive.tolist() for topic in judged] == [TRUTH["sensitive"]]


def test_a_truth_without_its_columns_is_refused() -> None:
    truth = pa.table(TRUTH).drop_columns(["grade"])
    with pytest.raises(CorpusError, match="has no column 'grade'.* A truth has user, topic"):
        sv.loop.compare_settings(posts(), topics=TOPICS, truth=truth)


@pytest.mark.parametrize("option", ["epsilon", "precision", "compress"])
def test_settings_to_compare_cannot_be_none_at_all(option: str) -> None:
    with pytest.raises(ParameterError, match=f"{option} must be at least 1 value, got none"):
        sv.loop.compare_settings(posts(), topics=TOPICS, **{option: cast("Any", [])})


@pytest.mark.parametrize("matrix", [np.ones((3, 2), int), sparse.csr_array(np.ones((3, 2)))])
def test_a_matrix_of_counts_is_charged_to_no_ledger_and_says_so(matrix: Any) -> None:  # noqa: ANN401 - not what is asked for
    with pytest.raises(ParameterError, match="must be texts.*PrivateBagOfWords.*add up yourself"):
        sv.release_counts(matrix, words=["debt", "loan"], epsilon=2, precision=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 0}, "^precision must be > 0, got 0"),
        ({"words": [1, 2]}, "in lower case, got 2 that are not"),
    ],
)
def test_a_release_names_the_option_that_is_wrong(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=message):
        released(["my loan"], tmp_path, **options)

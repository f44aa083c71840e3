"""A topic gets the dimensions that serve its ranking, or a reason why none does."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.match import Matching, best_indicator, catalogue_of, match_model
from sottovoce.topics.salient import known_words, salient_columns, salient_words

FILLER = tuple(f"filler{number}" for number in range(400))
DEBT = ("debt", "loan", "credit", "owe")
BABY = ("baby", "birth", "pregnant", "mother")
TERMS = (*DEBT, *BABY, "card", *FILLER)
DEBTS = Topic("debts", DEBT, "finance", sensitive=True)
BABIES = Topic("babies", BABY, "medicine", sensitive=True)
CATALOGUE = Catalogue((DEBTS, BABIES))


def row(**masses: float) -> np.ndarray:
    """A dimension with these probabilities; what is left is spread over the filler."""
    phi = np.zeros(len(TERMS))
    for word, mass in masses.items():
        phi[TERMS.index(word)] = mass
    phi[-len(FILLER) :] = (1 - phi.sum()) / len(FILLER)
    return phi


def spread(words: tuple[str, ...], mass: float) -> np.ndarray:
    return row(**dict.fromkeys(words, mass / len(words)))


PLAIN = [row() for _ in range(6)]


def model_of(rows: Sequence[np.ndarray], sizes: np.ndarray | None = None) -> LdaModel:
    phi = np.stack(rows, axis=1)
    alpha = np.ones(len(rows)) if sizes is None else sizes
    return LdaModel(phi, alpha, Vocabulary.public(TERMS), TokenRules())


def match(
    *rows: np.ndarray,
    catalogue: Catalogue = CATALOGUE,
    sizes: np.ndarray | None = None,
    **options: Any,  # noqa: ANN401 - passed on
) -> Matching:
    return match_model(catalogue, model_of([*rows, *PLAIN], sizes), **options)


def dimensions(matching: Matching) -> dict[str, tuple[int, ...]]:
    return {topic.name: topic.dimensions for topic in matching.catalogue}


def test_each_topic_gets_the_dimension_that_its_words_fill() -> None:
    rows = spread(BABY, 0.4), spread(DEBT, 0.3)
    matching = match(*rows)
    assert dimensions(matching) == {"debts": (1,), "babies": (0,)}
    assert matching.catalogue.model == model_of([*rows, *PLAIN]).fingerprint
    assert [(fit.topic, round(fit.share, 3), fit.telling) for fit in matching.fits] == [
        ("debts", 0.3, 4),
        ("babies", 0.4, 4),
    ]
    assert set(matching.fits[0].words[:4]) == set(DEBT)
    matching.require_all()


def test_a_topic_split_in_two_gets_both_parts_but_not_a_crumb() -> None:
    both = match(spread(BABY, 0.4), spread(DEBT, 0.3), spread(DEBT, 0.25))
    assert dimensions(both)["debts"] == (1, 2)
    crumb = match(spread(BABY, 0.4), spread(DEBT, 0.5), spread(DEBT, 0.1))
    assert dimensions(crumb)["debts"] == (1,)


def test_the_sizes_of_dimensions_decide_which_parts_matter() -> None:
    rows = spread(BABY, 0.4), spread(DEBT, 0.3), spread(DEBT, 0.25)
    sizes = np.array([1.0, 1.0, 0.05, *np.ones(len(PLAIN))])
    assert dimensions(match(*rows, sizes=sizes))["debts"] == (1,)


def test_a_mixed_dimension_goes_to_the_larger_share_and_says_what_it_mixes() -> None:
    matching = match(row(**dict.fromkeys(DEBT, 0.05), **dict.fromkeys(BABY, 0.04)))
    assert dimensions(matching) == {"debts": (0,), "babies": ()}
    assert matching.fits[0].also == "babies"
    (left,) = matching.unmatched
    assert (left.topic, left.nearest) == ("babies", 0)
    assert "more about 'debts'" in left.why
    with pytest.raises(InputError, match="1 of 2 topics match no dimension, the first 'babies'"):
        matching.require_all()
    assert matching.without_unmatched().names == ("debts",)


@pytest.mark.parametrize(
    "near",
    [
        row(debt=0.3),  # one word is no topic
        row(debt=0.2, loan=0.2),
        spread(DEBT, 0.04),  # too small a share
    ],
)
def test_what_only_looks_like_the_topic_is_not_taken(near: np.ndarray) -> None:
    matching = match(spread(BABY, 0.4), near)
    assert dimensions(matching)["debts"] == ()
    assert "its nearest, its words are" in matching.unmatched[0].why


def test_words_that_are_common_everywhere_tell_no_dimension() -> None:
    everywhere = [spread(DEBT, 0.3) for _ in range(8)]
    matching = match_model(CATALOGUE, model_of([*everywhere, spread(BABY, 0.4)]))
    assert dimensions(matching)["debts"] == ()


def test_a_dimension_that_takes_up_little_of_the_topic_does_not_stand_for_it() -> None:
    # Its share is large enough, but it is tiny: a text with these words is of the large dimension.
    tiny, large = spread(DEBT, 0.3), spread((*DEBT, *BABY), 0.08)
    for size, expected in ((0.002, ()), (1.0, (0,))):
        sizes = np.array([size, 1.0, *np.ones(len(PLAIN))])
        matching = match(tiny, large, spread(BABY, 0.4), sizes=np.append(sizes, 1.0))
        assert dimensions(matching)["debts"] == expected


def test_a_dimension_of_another_topic_is_not_taken_however_well_it_fits() -> None:
    wide = Topic("money", (*DEBT, "card"), "finance")
    matching = match(spread((*DEBT, "card"), 0.4), catalogue=Catalogue((DEBTS, wide)))
    assert dimensions(matching) == {"debts": (), "money": (0,)}


def test_a_topic_none_of_whose_words_the_model_knows_is_told_apart() -> None:
    catalogue = Catalogue((DEBTS, Topic("rare", ("zyzzyva", "aa bb"), "other")))
    (left,) = match(spread(DEBT, 0.3), catalogue=catalogue).unmatched
    assert (left.known_words, left.nearest) == (0, None)
    assert left.why == "the model knows none of its words"


def test_choices_overrule_and_what_is_chosen_is_nobody_else_s() -> None:
    rows = spread(BABY, 0.4), spread(DEBT, 0.3), spread(DEBT, 0.25)
    matching = match(*rows, chosen={"babies": [2, 5]})
    assert dimensions(matching) == {"debts": (1,), "babies": (2, 5)}
    assert [fit.how for fit in matching.fits] == ["words", "chosen", "chosen"]
    assert matching.shared == ()
    assert match(*rows, chosen={"babies": [2], "debts": [2]}).shared == (2,)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"chosen": {"none": [1]}}, "no topic 'none'"),
        ({"chosen": {"debts": [7]}}, "must be 0 to 6 in this model, got 7"),
        ({"chosen": {"debts": [-1]}}, "got -1"),
        ({"chosen": {"debts": []}}, "at least 1 dimension"),
        ({"least_share": 0.0}, "least share"),
        ({"least_share": float("nan")}, "least share"),
    ],
)
def test_impossible_choices_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        match(spread(DEBT, 0.3), **options)


def test_when_nothing_fits_there_is_no_catalogue_left() -> None:
    with pytest.raises(InputError, match="about other things"):
        match().without_unmatched()


def test_an_uncounted_bigram_is_as_frequent_as_its_rarer_word() -> None:
    catalogue = Catalogue((Topic("cards", ("credit card", "debt", "loan"), "finance"), BABIES))
    both = match(row(credit=0.2, card=0.03, debt=0.05, loan=0.05), catalogue=catalogue)
    assert both.fits[0].share == pytest.approx(0.13)
    lonely = match(row(credit=0.3, debt=0.05, loan=0.05), catalogue=catalogue)
    assert dimensions(lonely)["cards"] == ()


def test_known_words_follow_the_model_s_own_forms_and_weights() -> None:
    topic = Topic("t", ("debts", "debt", "the", "credit card", "xyz"), "finance")
    column = {"debt": 0, "credit": 1, "card": 2}

    def form(word: str) -> str | None:
        return None if word == "the" else word.removesuffix("s")

    assert known_words(topic, column, form) == {
        (0,): pytest.approx(2 / 3),
        (1, 2): pytest.approx(1 / 3),
    }
    counted = known_words(topic, {"debt": 0, "credit card": 1}, form)
    assert counted == {(0,): pytest.approx(2 / 3), (1,): pytest.approx(1 / 3)}
    weighted = Topic("t", ("debt", "credit"), "finance", weights=(3.0, 0.0))
    assert known_words(weighted, column) == {(0,): 1.0}


def test_the_best_indicator_is_the_best_of_all_subsets() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        reach = rng.dirichlet(np.full(6, 0.5))
        found = best_indicator(reach, range(6))
        subsets = [[place for place in range(6) if mask >> place & 1] for mask in range(1, 64)]
        cosines = [reach[subset].sum() / np.sqrt(len(subset)) for subset in subsets]
        assert reach[list(found)].sum() / np.sqrt(len(found)) == pytest.approx(max(cosines))
    assert best_indicator(reach, []) == ()


def test_a_model_s_own_catalogue_has_a_topic_for_each_dimension_yet_to_be_judged() -> None:
    model = model_of([row(debt=0.4, loan=0.2, owe=0.1), row(baby=0.3, birth=0.2, mother=0.1)])
    made = catalogue_of(model, count=3)
    assert made.names == ("0 debt loan owe", "1 baby birth mother")
    assert made.model == model.fingerprint
    assert [topic.dimensions for topic in made] == [(0,), (1,)]
    assert made.topics[0].weights == pytest.approx((0.4, 0.2, 0.1))
    assert {topic.domain for topic in made} == {"unjudged"}
    assert made.sensitive == ()


TWO_DIMENSIONS = np.array([[0.5, 0.3, 0.2, 0.0], [0.6, 0.0, 0.1, 0.3]])
FOUR_TERMS = ("the", "debt", "pay", "baby")


def test_by_probability_the_likeliest_come_first() -> None:
    assert salient_words(TWO_DIMENSIONS, FOUR_TERMS, 2) == [("the", "debt"), ("the", "baby")]


def test_by_lift_a_word_that_is_common_everywhere_comes_last_and_an_absent_one_never() -> None:
    assert salient_words(TWO_DIMENSIONS, FOUR_TERMS, 3, relevance=0.0) == [
        ("debt", "pay", "the"),
        ("baby", "the", "pay"),
    ]
    assert salient_words(TWO_DIMENSIONS, FOUR_TERMS, 4, relevance=0.5)[0][-1] == "baby"


def test_sizes_decide_what_is_common() -> None:
    phi = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])
    first = salient_columns(phi, 1, relevance=0.0, sizes=np.array([1.0, 8.0, 1.0]))[0]
    second = salient_columns(phi, 1, relevance=0.0, sizes=np.array([1.0, 1.0, 8.0]))[0]
    assert (first[0], second[0]) == (1, 0)


def test_ties_are_in_column_order() -> None:
    assert salient_columns(np.full((1, 5), 0.2), 3).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"count": 0}, "count must be 1 to 4"),
        ({"count": 5}, "count must be 1 to 4"),
        ({"relevance": 1.1}, "relevance must be"),
        ({"relevance": float("nan")}, "relevance must be"),
        ({"relevance": 0.5, "sizes": np.ones(3)}, "sizes must be 2"),
        ({"relevance": 0.5, "sizes": np.array([1.0, 0.0])}, "sizes must be 2 positive"),
        ({"terms": FOUR_TERMS[:3]}, "terms must be 4"),
    ],
)
def test_bad_parameters_are_refused(options: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"phi": TWO_DIMENSIONS, "terms": FOUR_TERMS, "count": 1}
    with pytest.raises(ParameterError, match=says):
        salient_words(**(given | options))


def test_phi_is_a_matrix() -> None:
    with pytest.raises(ParameterError, match="phi must be a matrix"):
        salient_columns(np.ones(3))

"""A coordinator puts a rare word into a common word's column, under a weight that tells them apart.

The column passed the support guard, for the common word is in many documents. With weights 1024 and
1, its sum of products with another column is 1024 times the common word's plus the rare word's: the
remainder by 1024, word by word, was the only document that uses the rare word.
"""

import numpy as np
import pytest
from support.openings import Opening, opened
from support.text_runs import WORDS, made_holdings, made_peers, made_terms

from sottovoce.learn.documents import Documents
from sottovoce.learn.features import FeatureMap, TextRecipe

RARE, COMMON, LIFT = "secretword", WORDS[0], 1024
LISTED = (*WORDS, RARE)


def the_peers(documents: int = 30) -> dict[str, Documents]:
    """Ada has one document with the rare word."""
    peers = made_peers(documents=documents)
    texts, labels = list(peers["ada"].texts), peers["ada"].labels
    texts[7] += f" {RARE}"
    return {**peers, "ada": Documents.from_texts(texts, labels)}


def smuggling_map(weights: tuple[float, float]) -> FeatureMap:
    """Every word in its own column, and the rare one in the common one's."""
    own = [[at, at] for at in range(len(WORDS))]
    entries = np.array([*own, [LISTED.index(RARE), WORDS.index(COMMON)]])
    numbers = np.ones(len(entries))
    numbers[WORDS.index(COMMON)], numbers[-1] = weights
    return FeatureMap(entries, numbers, len(WORDS))


def a_training(mapping: FeatureMap) -> Opening:
    recipe = TextRecipe(dictionary="mapped", words=LISTED, mapping=mapping)
    terms = made_terms(text=recipe, recipe={"penalty": 0.1}, labels=("ham", "spam"))
    return opened(terms, made_holdings(the_peers()))


def remainders(opening: Opening) -> list[float]:
    """What stands below the lift in the products of the common word's column."""
    columns = np.flatnonzero(opening.kept)[1:]
    return [opening.product(0, int(at)) % LIFT for at in columns]


def test_no_document_stands_in_the_remainders_of_a_lifted_column() -> None:
    opening = a_training(smuggling_map((LIFT, 1.0)))
    assert opening.kept[WORDS.index(COMMON)]
    assert not any(remainders(opening))


def test_two_maps_of_zeros_and_ones_do_not_differ_by_a_document() -> None:
    with_rare, without = (
        a_training(smuggling_map((1.0, 1.0))),
        a_training(smuggling_map((1.0, 0.0))),
    )
    np.testing.assert_array_equal(with_rare.kept, without.kept)
    np.testing.assert_array_equal(with_rare.sums.products, without.sums.products)


@pytest.mark.parametrize("values", ["binary", "counts"])
def test_sums_of_columns_follow_from_the_kept_words_sums(values: str) -> None:
    """M'X'XM: what a map opens is no more than a given dictionary of the kept words opens."""
    chance = np.random.default_rng(1)
    entries = np.array([[at, column] for at in range(len(LISTED)) for column in range(5)])
    mapping = FeatureMap(entries, chance.integers(-3, 4, len(entries)).astype(float), 5)
    options = {"words": LISTED, "values": values}
    mapped = TextRecipe(dictionary="mapped", mapping=mapping, **options)  # type: ignore[arg-type] # as there
    given = TextRecipe(dictionary="given", **options)  # type: ignore[arg-type] # likewise
    both = [
        opened(
            made_terms(text=text, recipe={"penalty": 0.1}, labels=("ham", "spam")),
            made_holdings(the_peers(documents=90)),
        )
        for text in (mapped, given)
    ]
    matrix = mapping.matrix(len(LISTED)).toarray()[both[1].kept]
    np.testing.assert_allclose(both[0].sums.products, matrix.T @ both[1].sums.products @ matrix)


def test_sentences_of_a_map_are_counted_by_document() -> None:
    """Five sentences of one document do not make its word common."""
    peers = made_peers(documents=30)
    texts = [text.replace(" ", ". ") for text in peers["ada"].texts]
    texts[3] = f"{RARE}. {RARE}. {RARE}. {RARE}. {RARE}. {RARE}. {COMMON}."
    peers["ada"] = Documents.from_texts(texts, peers["ada"].labels)
    mapping = smuggling_map((LIFT, 1.0))
    recipe = TextRecipe(dictionary="mapped", words=LISTED, mapping=mapping, unit="sentence")
    terms = made_terms(text=recipe, recipe={"penalty": 0.1}, labels=("ham", "spam"))
    assert not any(remainders(opened(terms, made_holdings(peers))))

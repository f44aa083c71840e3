"""Topics of an opened sum of pairs: read, shown, kept as a model."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.reading import counted_topics
from sottovoce.learn.count.recipe import CountRecipe, What, cells_of
from sottovoce.topics import load_model

WORDS = ("bank", "debt", "itch", "loan", "rash", "skin")
MONEY = (0, 1, 3)
PEERS = ("a", "b", "c", "d")


def _counted(what: What = "pairs", labels: tuple[str, ...] = ()) -> TogetherCounts:
    """Two topics of three words, each pair of a topic's words with 1,000 votes."""
    totals = np.zeros(cells_of(what, len(WORDS), len(labels)), np.int64)
    if what == "pairs":
        low, high = np.triu_indices(len(WORDS))
        together = np.isin(low, MONEY) == np.isin(high, MONEY)
        totals[together & (low != high)] = 1_000
    recipe = CountRecipe(what, 10, Fraction(1), declared=True)
    return TogetherCounts(WORDS, labels, totals, recipe, PEERS, PEERS)


def test_pairs_show_their_topics() -> None:
    found = counted_topics(_counted(), 2)
    told = sorted(" ".join(sorted(str(row["words"]).split())) for row in found.top(3))
    assert told == ["bank debt loan", "itch rash skin"]
    assert "bank" in str(found)
    assert "topics=2" in repr(found)
    assert "<table" in found._repr_html_()


def test_topics_are_a_model_that_can_be_opened(tmp_path: Path) -> None:
    found = counted_topics(_counted(), 2)
    rules = TokenRules(shortest=3)
    found.save(tmp_path / "model", rules)
    model = load_model(tmp_path / "model")
    assert model.vocabulary.terms == WORDS
    assert model.rules == rules
    assert model.origin.parameters["epsilon"] == "1"
    bare = replace(found, components=np.eye(2, len(WORDS)))
    assert bare.lda_model().phi.min() > 0


def test_the_variance_of_the_noise_decides_how_many_dimensions_are_seen() -> None:
    counted = _counted()
    louder = CountRecipe("pairs", 1_000, Fraction(1))
    noisy = TogetherCounts(WORDS, (), counted.totals, louder, PEERS, PEERS)
    assert counted_topics(counted, 2).dimensions > counted_topics(noisy, 2).dimensions
    said = counted_topics(noisy, 3).warning()
    assert said is not None
    assert "3 topics were asked for" in said
    assert counted_topics(counted, 1).warning() is None


def test_words_without_pairs_are_refused() -> None:
    with pytest.raises(ParameterError, match="pairs"):
        counted_topics(_counted("words"), 2)

"""The agreement on a dictionary: what travels, and what does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.changed_parties import told_to
from support.text_runs import (
    AGREED,
    NAMES,
    WORDS,
    made_holdings,
    made_peers,
    made_terms,
    part_kept,
    trained,
    watched,
)

from sottovoce.errors import AbortedError, CorruptShareError, DataError, DisagreementError
from sottovoce.learn import train
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import nominate_buckets, word_buckets
from sottovoce.learn.run.classify import models
from sottovoce.learn.run.dictionary import chosen_buckets
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.wire.codec import encode_value
from sottovoce.learn.wire.exchange import Exchange

RARE = {"ada": "zebrafinches", "ben": "zephyrwinds"}
COMMON = "housekeeping"


def with_rare_words() -> dict[str, Documents]:
    """Each of two peers has a word of its own in every document, and all have a common one."""
    return {
        name: Documents.from_texts(
            [f"{text} {COMMON} {RARE.get(name, '')}" for text in each.texts], each.labels
        )
        for name, each in made_peers().items()
    }


def ran(peers: dict[str, Documents]) -> Exchange:
    return watched(made_terms(recipe={"penalty": 0.1}), made_holdings(peers))


def test_words_that_several_peers_nominate_are_the_dictionary_and_no_others() -> None:
    peers = with_rare_words()
    # So many buckets that two words share one in a run of a million.
    text = replace(AGREED, buckets=1 << 20)
    features = read_trained(trained(made_terms(text=text), peers).results["cy"]).features
    assert features is not None
    assert features.chosen is not None
    words = (*WORDS, COMMON)
    buckets = set(word_buckets(words, features.key, text.buckets).tolist())
    chosen = set(features.chosen.tolist())
    assert chosen == buckets
    assert not set(word_buckets(RARE.values(), features.key, text.buckets).tolist()) & chosen


def test_no_word_and_no_key_of_words_reaches_the_coordinator() -> None:
    exchange = ran(with_rare_words())
    key = exchange.parties["ada"].result()["features"]["key"]  # type: ignore[attr-defined] # a run's party
    assert len(key) == 32
    for views in exchange.views.values():
        for message in views:
            data = encode_value(message.payload)
            assert key not in data
            assert not any(word.encode() in data for word in (COMMON, *RARE.values()))
    parties: Any = exchange.parties
    assert {parties[n].result()["features"]["key"] for n in NAMES} == {key}
    assert "features" not in exchange.parties["coordinator"].result()  # type: ignore[attr-defined] # a run's party


def test_messages_are_as_long_whatever_the_vocabulary() -> None:
    few, many = made_peers(), made_peers()
    many["ada"] = Documents.from_texts(
        [f"{text} own{chr(97 + at % 26)}{at}" for at, text in enumerate(many["ada"].texts * 2)],
        (many["ada"].labels or ()) * 2,
    )
    sizes = []
    for peers in (few, many):
        said = trained(made_terms(recipe={"penalty": 0.1}), peers).transcript
        before = {"statement", "keys", "directory", "word key", "masked", "labels"}
        first = [each for each in said if each.sender == "ada" and each.kind in before]
        sizes.append([each.bytes for each in first][:6])
    assert sizes[0] == sizes[1]


def test_padded_marks_are_as_many_whatever_a_peer_has() -> None:
    recipe = replace(AGREED, candidates=200, padded=True)
    few, many = ("aa bb",) * 3, made_peers()["ada"].texts
    assert {int(nominate_buckets(texts, recipe, b"k").sum()) for texts in (few, many)} == {200}
    assert int(nominate_buckets(few, replace(recipe, padded=False), b"k").sum()) == 2
    wanted = word_buckets(["aa", "bb"], b"k", recipe.buckets)
    assert nominate_buckets(few, recipe, b"k")[wanted].tolist() == [1.0, 1.0]
    one, other = (nominate_buckets(few, recipe, b"k") for _ in range(2))
    assert (one != other).any()


def test_a_padded_dictionary_trains_as_one_without() -> None:
    """Columns of no word are dropped as rare."""
    peers = made_peers()
    text = replace(AGREED, buckets=1 << 16, candidates=500, padded=True, width=200)
    ended = trained(made_terms(text=text, recipe={"penalty": 0.1}), peers)
    result = read_trained(ended.results["ada"])
    assert result.features is not None
    rows = {n: (result.features.rows(p.texts), p.labels or ()) for n, p in peers.items()}
    kept = part_kept(ended.results["ada"], "classifiers")["kept"]
    assert kept.sum() <= len(WORDS) < len(result.names)
    (model,) = models(result)
    np.testing.assert_array_equal(model.coefficients, train(rows, penalty=0.1).coef_[0])
    table = run_leakage(made_terms(text=text)).table()
    assert "together can try words" in table
    assert "all peers nominated together" not in table


def test_of_too_many_buckets_those_of_most_peers_stay() -> None:
    marks = np.array([3.0, 1.0, 2.0, 3.0, 2.0])
    assert chosen_buckets(marks, fewest=2, most=3).tolist() == [0, 2, 3]
    with pytest.raises(DataError, match="at least 4 peers"):
        chosen_buckets(marks, fewest=4, most=3)


def forged(kind: str, name: str, value: object) -> None:
    """A training whose coordinator tells ben something else."""
    lie = told_to("ben", kind, name, lambda _: value)
    watched(made_terms(recipe={"penalty": 0.1}), made_holdings(made_peers()), lie)


def test_a_coordinator_that_swaps_keys_is_found_out() -> None:
    entry = (bytes(32), bytes(64))
    with pytest.raises(DisagreementError, match="signature for word key"):
        forged("directory", "keys", dict.fromkeys(NAMES, entry))


def test_a_key_that_was_not_sealed_by_the_first_peer_is_refused() -> None:
    with pytest.raises(CorruptShareError):
        forged("word key", "sealed", bytes(48))


@pytest.mark.parametrize(
    "buckets",
    [np.array([], np.int64), np.array([5, 3]), np.array([4096]), np.array([-1, 3]), np.arange(99)],
    ids=["none", "falling", "too high", "below zero", "too many"],
)
def test_a_dictionary_that_is_none_is_refused(buckets: object) -> None:
    with pytest.raises(AbortedError, match="ben has ended .* rising numbers of buckets"):
        forged("dictionary", "buckets", buckets)


def test_labels_that_lack_a_peers_own_are_refused() -> None:
    with pytest.raises(AbortedError, match="every peer's own"):
        forged("classes", "labels", ("ham", "jam"))


def test_a_statement_that_the_coordinator_leaves_out_is_missed() -> None:
    with pytest.raises(DisagreementError, match="ben must be shown a statement of the terms by"):
        forged("statements", "statements", {})


def test_the_leakage_says_what_agreeing_shows() -> None:
    table = run_leakage(made_terms()).table()
    assert "how many peers nominated a word of each of 4096 buckets" in table
    assert "how many words all peers nominated together" in table
    assert "which label names each peer has" in table
    assert "by trying words" in table
    assert "which peers have which features" not in table
    told = run_leakage(made_terms(text=replace(AGREED, declared="used"))).table()
    assert "which peers have which features" in told

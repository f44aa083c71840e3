"""What an opened sum is, over a bad wire too; what can be read from it, and what is no sum."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.counts import counting

from sottovoce.errors import (
    DamagedRecordError,
    InputError,
    ParameterError,
    ProtocolError,
    TooFewPartiesError,
)
from sottovoce.learn.count.opened import TogetherCounts, counted_record
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.count_together import counted_documents
from sottovoce.learn.documents import Documents, HolderColumns, Skipped
from sottovoce.learn.run.count import NoisedSum
from sottovoce.learn.wire.codec import encode_value
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.privacy.opened_noise import SharesLaw

PEERS = ("ada", "ben", "cy")
PAIRS = TogetherCounts(
    ("bank", "debt", "loan"),
    (),
    np.array([1, -2, 30, 4, 5, 6]),
    CountRecipe("pairs", 2, Fraction(1, 2), collude=1),
    PEERS,
    PEERS,
)
WORDS = TogetherCounts(
    ("bank", "debt"),
    ("ham", "spam"),
    np.array([5, 1, 9, -3, 7, 8]),
    CountRecipe("words", 4, Fraction(2), documents_per_user=3),
    PEERS,
    PEERS[:2],
)


def test_cells_are_named_by_their_words_and_labels() -> None:
    assert PAIRS.pair_totals.tolist() == [[1, -2, 30], [-2, 4, 5], [30, 5, 6]]
    assert [(row["word"], row["other"], row["votes"]) for row in PAIRS.rows(most=2)] == [
        ("bank", "loan", 30),
        ("loan", "loan", 6),
    ]
    assert [(row["label"], row["word"]) for row in WORDS.rows()] == [
        ("spam", "debt"),
        ("ham", "bank"),
        ("ham", "debt"),
        ("spam", "bank"),
    ]
    assert (WORDS.document_totals.tolist(), WORDS.documents) == ([9, 8], 17)
    assert PAIRS.documents == 22
    assert "documents=17" in repr(WORDS)


def test_the_law_is_that_of_the_shares_which_are_in_the_sum() -> None:
    assert SharesLaw(Fraction(1, 4), shares=3, among=2) == PAIRS.law
    assert SharesLaw(Fraction(1, 2), shares=2, among=2) == WORDS.law
    assert WORDS.variance == pytest.approx(7.8354, abs=1e-3)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_margin_is_the_least_that_holds(level: float) -> None:
    margin, law = WORDS.margin(level), WORDS.law
    assert 1 - 2 * law.at_least(margin + 1) >= level
    assert margin == 0 or 1 - 2 * law.at_least(margin) < level


def test_questions_without_an_answer_are_refused() -> None:
    with pytest.raises(ParameterError, match="these are counts of pairs"):
        _ = PAIRS.word_totals
    with pytest.raises(ParameterError, match="these are counts of words"):
        _ = WORDS.pair_totals
    with pytest.raises(ParameterError, match="level must be between 0 and 1"):
        WORDS.margin(1)
    with pytest.raises(InputError, match="must have 6 whole numbers"):
        replace(PAIRS, totals=np.zeros(5, np.int64))


def test_what_is_kept_is_read_again_and_nothing_else() -> None:
    for counted in (PAIRS, WORDS):
        again = TogetherCounts.from_bytes(counted.to_bytes())
        assert again.totals.tolist() == counted.totals.tolist()
        assert (again.recipe, again.survivors) == (counted.recipe, counted.survivors)
    record = counted_record(WORDS)
    broken = [
        {**record, "version": 9},
        {**record, "totals": np.zeros(2, np.int64)},
        {**record, "recipe": {}},
        {**record, "recipe": {**record["recipe"], "epsilon": "none"}},  # type: ignore[dict-item] # a record
    ]
    for each in broken:
        with pytest.raises(DamagedRecordError):
            TogetherCounts.from_record(each)
    with pytest.raises(DamagedRecordError, match="no count together"):
        TogetherCounts.from_bytes(encode_value(("a", "b")))


def test_terms_that_count_nothing_are_refused() -> None:
    terms = counting(3).terms
    with pytest.raises(ParameterError, match="says how it is counted"):
        replace(terms, count=None)
    with pytest.raises(ParameterError, match="says how it is counted"):
        replace(terms, kind="train")
    with pytest.raises(ParameterError, match="given public words"):
        replace(terms, text=None)
    assert NoisedSum(terms).plan.cells == 4


def test_a_holder_s_documents_are_taken_as_they_are() -> None:
    own = Documents(("a debt",))
    assert counted_documents(own, HolderColumns(), Skipped()) is own
    mixed = [{"text": "a debt", "no": 1}, {"text": 3, "no": "two"}]
    with pytest.raises(InputError, match="not of one kind"):
        counted_documents(mixed, HolderColumns(), Skipped())


RUNS = 15


def outcome(seed: int) -> str:
    run = counting(5, drop=1, collude=1)
    parties = run.parties()
    faults = Faults(drop=0.01, duplicate=0.1, reorder=0.2, flip=0.01, seed=seed)
    try:
        Exchange(parties, faults=faults).run()
    except ProtocolError as error:
        return type(error).__name__
    given = run.spending._kept  # type: ignore[attr-defined] # what each peer drew
    for party in parties:
        counted = TogetherCounts.from_record(party.result())
        names = [f"count {run.session.hex()} {name}" for name in counted.survivors]
        assert len(names) >= 4
        assert np.array_equal(counted.totals, sum(given[name] for name in names))
    return f"{len(names)} left"


def test_every_end_is_the_exact_sum_or_a_named_error() -> None:
    ends = Counter(outcome(seed) for seed in range(RUNS))
    assert set(ends) <= {"5 left", "4 left", "StalledError", "TooFewPartiesError"}
    assert ends["5 left"] > RUNS // 4


@pytest.mark.parametrize("step", [1, 3, 5, 7, 9])
def test_a_peer_may_be_lost_at_any_step(step: int) -> None:
    run = counting(4, drop=1, collude=1)
    counted = run.run(lost={"peer2": step})
    # Who has given its numbers is in the sum, whether it stays to the end or not.
    assert ("peer2" in counted.survivors) == (step > 5)


def test_nobody_is_lost_where_all_must_stay() -> None:
    with pytest.raises(TooFewPartiesError):
        counting(4, drop=0).run(lost={"peer3": 5})

"""A release worked out before anything is drawn, and drawn."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.sklearn_checks import check_on_counts

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.compression.embedding import Embedding
from sottovoce.release.estimator import PrivateBagOfWords
from sottovoce.release.plan import ReleasePlan, ReleaseSettings, account

WORDS = tuple(f"word{i}" for i in range(40))
COUNTS = sparse.csr_array(np.random.default_rng(1).poisson(0.4, (30, 40)))
STATED = LimitedPrecision(4, 2)


def plan(**changes: Any) -> ReleasePlan:  # noqa: ANN401 - any field of the settings
    return ReleasePlan(ReleaseSettings(**{"guarantee": STATED, **changes}), WORDS)


BOUGHT = {"compression": "frequency", "columns": 8}


@pytest.mark.parametrize(
    ("changes", "noise_rate", "epsilon"),
    [
        ({}, "1/2", 2),
        ({"compression": "random", "columns": 8}, "1/2", 2),
        ({**BOUGHT, "prior": "local", "prior_share": Fraction(1, 5)}, "2/5", 2),
        ({**BOUGHT, "prior": "central", "prior_share": Fraction(1, 5)}, "2/5", 2),
        ({"compression": "random", "columns": 8, "accounting": "paper"}, "5/2", 10),
        # What was bought is not multiplied: 5 times 9/20, and 1/20.
        ({**BOUGHT, "prior": "central", "accounting": "paper"}, "9/4", "46/5"),
    ],
)
def test_a_guarantee_is_what_was_stated_but_in_the_papers_accounting(
    changes: dict[str, Any],
    noise_rate: str,
    epsilon: Any,  # noqa: ANN401 - exact numbers
) -> None:
    """Compression costs nothing, and frequencies are paid for out of what was stated."""
    assert plan(**changes).noise_rate == Fraction(noise_rate)
    assert plan(**changes).guarantee == LimitedPrecision(4, epsilon)


@pytest.mark.parametrize("compression", ["random", "frequency"])
@pytest.mark.parametrize("prior", ["public", "local", "central"])
@pytest.mark.parametrize("constant_work", [True, False])
def test_a_release_at_a_high_rate_is_nearly_the_truth(
    compression: str, prior: str, constant_work: bool
) -> None:
    loud = plan(
        guarantee=LimitedPrecision(1, 200),
        compression=compression,
        columns=8,
        prior=prior,
        frequencies=np.ones(40) if prior == "public" else None,
        constant_work=constant_work,
    )
    released = loud.draw(COUNTS)
    (only_map,) = released.maps
    assert (released.counts.toarray() == only_map.compress(COUNTS).toarray()).all()
    assert released.frequencies.shape == (40,)


@pytest.mark.parametrize("constant_work", [True, False])
def test_every_cell_gets_noise_and_every_draw_is_fresh(constant_work: bool) -> None:
    quiet = plan(guarantee=LimitedPrecision(1, "0.01"), constant_work=constant_work)
    first, second = (quiet.draw(COUNTS).counts.toarray() for _ in range(2))
    assert (first != second).mean() > 0.9
    assert (first[COUNTS.toarray() == 0] != 0).mean() > 0.9


def test_a_threshold_drops_what_is_below_it() -> None:
    released = plan(guarantee=LimitedPrecision(1, "0.1"), threshold=3).draw(COUNTS)
    assert released.counts.data.min() >= 3


def test_several_maps_serve_the_documents_in_turn() -> None:
    grouped = plan(guarantee=LimitedPrecision(1, 200), compression="random", columns=8, maps=3)
    released = grouped.draw(COUNTS)
    assert len(released.maps) == 3
    for row in range(6):
        expected = released.maps[row % 3].compress(COUNTS[[row]]).toarray()
        assert (released.counts[[row]].toarray() == expected).all()


def test_an_embedding_places_the_words() -> None:
    vectors = Embedding(WORDS, np.random.default_rng(2).random((40, 3), np.float32))
    released = plan(compression="embedding-cluster", columns=8, embedding=vectors).draw(COUNTS)
    assert released.maps[0].sizes.tolist() == [5] * 8


def test_expected_size_lies_near_the_drawn_one() -> None:
    some = plan(guarantee=LimitedPrecision(1, 2))
    drawn = some.draw(sparse.csr_array((2000, 40), dtype=int)).counts.nnz
    assert some.expected_nonzeros(sparse.csr_array((2000, 40), dtype=int)) == pytest.approx(
        drawn, rel=0.05
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compression": "zip"}, "compression must be one of none, random"),
        ({"accounting": "loose"}, "accounting must be one of tight, paper"),
        ({"prior": "guess"}, "prior must be one of public, local, central"),
        ({"prior_share": Fraction(1)}, "prior_share must be in"),
        ({"columns": 8}, "columns must not be given without a compression"),
        ({"compression": "random"}, "compression 'random' needs columns, got none"),
        ({"compression": "random", "columns": 40}, "below the number of words, 40; got 40"),
        ({"compression": "random", "columns": 0}, "columns must be >= 1"),
        ({"compression": "frequency", "columns": 8}, "needs frequencies"),
        ({"compression": "embedding-cluster", "columns": 8}, "needs an embedding"),
        ({"maps": 0}, "maps must be > 0"),
        ({"maps": 2}, "several maps need a compression that is random"),
        ({"maps": 2, "compression": "random", "columns": 1}, "and more than 1 column"),
        ({"threshold": 10**20}, "threshold must be at most"),
        (
            {"compression": "random", "columns": 8, "prior": "local", "frequencies": np.ones(40)},
            "either public or paid for",
        ),
        ({"threshold": 0}, "threshold must be > 0"),
        ({"prior": "central"}, "leave the prior public"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plan(**changes)


def test_counts_of_another_width_are_refused() -> None:
    with pytest.raises(CorpusError, match="must have 40 columns"):
        plan().draw(COUNTS[:, :7])


@pytest.mark.filterwarnings("ignore:epsilon 200 .* is next to no promise")
def test_the_estimator_states_its_guarantee_and_decompresses() -> None:
    bag = PrivateBagOfWords(
        n=1, epsilon="200", compression="random", columns=8, decompress=True, random_state=3
    )
    shared = bag.fit_transform(COUNTS)
    assert bag.guarantee_ == LimitedPrecision(1, 200)
    assert shared.shape == COUNTS.shape
    assert shared.sum() == COUNTS.sum()
    assert bag.get_feature_names_out().tolist()[:2] == ["x0", "x1"]


@pytest.mark.filterwarnings("ignore:epsilon 200 .* is next to no promise")
@pytest.mark.parametrize("rows", [30, 31, 2])
def test_the_estimator_decompresses_each_document_by_its_own_map(rows: int) -> None:
    bag = PrivateBagOfWords(
        n=1, epsilon="200", compression="random", columns=8, maps=3, decompress=True, random_state=3
    )
    counts = sparse.csr_array(sparse.vstack([COUNTS, COUNTS])[:rows])
    shared = bag.fit_transform(counts)
    assert shared.sum(axis=1).tolist() == counts.sum(axis=1).tolist()
    maps = [each.map_ for each in bag.plan_._compression(np.ones(40)).fit(COUNTS).compressions_]
    for row in range(rows):
        by_map = maps[row % 3].matrix
        assert ((shared[[row]] - counts[[row]]) @ by_map).count_nonzero() == 0


def test_the_estimator_can_work_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every draw, of the frequencies too, goes through the dense mechanism."""
    monkeypatch.delattr(GeometricMechanism, "sparse")
    bag = PrivateBagOfWords(compression="frequency", columns=8, prior="local", constant_work=True)
    assert bag.fit_transform(COUNTS).shape == (30, 8)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"vocabulary": ["one", "two", "one two"]}, "single words"),
        ({"vocabulary": ["one", "two"]}, "must name the 3 columns"),
        ({"compression": "random", "columns": "2"}, "whole number"),
        ({"compression": "random", "columns": 2, "maps": 1 << 28}, "use fewer maps"),
        ({"compression": "random", "columns": 2, "frequencies": [0, 0, 0]}, "prior of zeros"),
        ({"compression": "random", "columns": 2, "frequencies": [1, 1]}, "3 numbers"),
        ({"n": 10**20}, "at most"),
    ],
)
def test_the_estimator_refuses_before_anything_is_drawn(
    settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ParameterError, match=reason):
        PrivateBagOfWords(**settings).fit(COUNTS[:, :3])


def test_the_estimator_never_quotes_what_it_was_given() -> None:
    with pytest.raises(CorpusError) as error:
        PrivateBagOfWords().fit(np.array([["my secret passage", 1]], dtype=object))
    assert "secret" not in str(error.value)
    assert error.value.__suppress_context__


def test_truth_values_and_unsigned_numbers_are_counts() -> None:
    for kind in (bool, np.uint64):
        assert PrivateBagOfWords().fit_transform(COUNTS.astype(kind)).shape == COUNTS.shape


def test_the_estimator_names_released_columns() -> None:
    bag = PrivateBagOfWords(compression="random", columns=2, vocabulary=WORDS[:4])
    bag.fit(COUNTS[:, :4])
    assert bag.get_feature_names_out().tolist() == ["column0", "column1"]
    assert bag.plan_.vocabulary == WORDS[:4]


# Each with the reason why a private release cannot, and must not, pass it.
NOT_MEANT = dict.fromkeys(
    ("check_estimators_pickle", "check_fit_idempotent"),
    "it compares two outputs, and noise is fresh on every call",
)


def test_scikit_learn_accepts_the_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    check_on_counts(PrivateBagOfWords(), monkeypatch, NOT_MEANT)


def test_the_estimator_warns_of_paper_accounting() -> None:
    bag = PrivateBagOfWords(compression="random", columns=8, accounting="paper")
    with pytest.warns(UserWarning, match="states epsilon 1, but the noise gives 5 at N=1"):
        bag.fit(COUNTS)
    assert bag.guarantee_ == LimitedPrecision(1, 5)


def test_the_estimator_warns_of_a_promise_that_is_next_to_none() -> None:
    with pytest.warns(UserWarning, match="epsilon 8 at N=2 is next to no promise"):
        PrivateBagOfWords(n=2, epsilon=8).fit(COUNTS)
    PrivateBagOfWords(n=2, epsilon="7.9").fit(COUNTS)


@pytest.mark.parametrize(("words", "columns", "factor"), [(100, 10, 10), (6800, 100, 68)])
def test_the_papers_accounting_overstates(words: int, columns: int, factor: int) -> None:
    stated = LimitedPrecision(2, 1)
    assert account(stated, "tight", words=words, columns=columns) == stated
    true = account(stated, "paper", words=words, columns=columns)
    assert true == LimitedPrecision(2, factor)

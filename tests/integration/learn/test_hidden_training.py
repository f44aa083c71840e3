"""The hidden mode: exact, silent about everything but signs, and within a budget."""

from typing import Any

import numpy as np
import pytest
from sottovoce_lab.learn.systems import (
    IntegerSystem,
    opened_integers,
    solved_exactly,
    summed_system,
)
from support.hidden_systems import BITS, small_keys_allowed, two_keys
from support.trainings import pooled, quick_training, small_peers

from sottovoce.errors import InputError, LeakError, ParameterError, QueryBudgetError
from sottovoce.learn import train
from sottovoce.learn.modes.hidden import HiddenCoordinator, HiddenKeyHolder, HiddenPeer
from sottovoce.learn.modes.queries import HiddenContributor, HiddenScorer, QueryTerms
from sottovoce.learn.query_budget import QueryBudget
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, LocalData, Recipe, TrainingTerms
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import new_session

PEERS = small_peers(width=3)
X, Y = pooled(PEERS)
NAMES = ("a", "b", "c")
OPTIONS: dict[str, Any] = {"penalty": 0.1, "fraction_bits": 16, "queries": 100}


class Run:
    """A hidden training with its parties in reach."""

    def __init__(self, **changes: Any) -> None:  # noqa: ANN401 - whatever it is given
        recipe = Recipe(**{**OPTIONS, "key_bits": BITS, **changes})
        data = {f"p{i}": LocalData.from_rows(x, y, NAMES, NAMES) for i, (x, y) in enumerate(PEERS)}
        identities = {name: each.identity.public for name, each in data.items()}
        terms = TrainingTerms(new_session(), identities, NAMES, recipe)
        self.keys = two_keys()
        self.coordinator = HiddenCoordinator(terms, self.keys[0])
        self.holder = HiddenKeyHolder(terms, self.keys[1])
        self.peers = {name: HiddenPeer(name, terms, each) for name, each in data.items()}
        self.exchange = Exchange([self.coordinator, self.holder, *self.peers.values()])
        with small_keys_allowed():
            self.exchange.run()

    def plain_theta(self) -> np.ndarray[Any, Any]:
        """The exact solve of the same rounded sums."""
        return np.array([float(each) for each in solved_exactly(self.system()).theta])

    def system(self) -> IntegerSystem:
        solve, standard = self.coordinator.solve, self.coordinator.standard
        assert solve is not None
        assert standard is not None
        parts = [solve.quantise(standard.apply(x), y, standard.count) for x, y in PEERS]
        matrix, vector = (np.sum([part[at] for part in parts], axis=0) for at in (0, 1))
        return summed_system(solve, matrix, vector)


@pytest.fixture(scope="module")
def exact() -> Run:
    return Run()


def test_the_shares_open_to_the_plain_solve_of_the_same_integers(exact: Run) -> None:
    own, held = exact.coordinator.share, exact.holder.share
    assert own is not None
    assert held is not None
    assert opened_integers(own, held) == solved_exactly(exact.system()).adjugate


def test_theta_matches_the_open_mode(exact: Run) -> None:
    standard = exact.coordinator.standard
    assert standard is not None
    model = standard.unstandardise(exact.plain_theta())
    opened = train(PEERS, penalty=0.1)
    np.testing.assert_allclose(model.coefficients, opened.coef_[0], atol=1e-3)
    assert abs(model.intercept - opened.intercept_[0]) < 1e-3


def test_two_peers_ciphertexts_of_theta_differ(exact: Run) -> None:
    first, second = (exact.peers[name].classifier for name in ("p0", "p1"))
    assert first is not None
    assert second is not None
    same = first.coordinator.ciphertexts == second.coordinator.ciphertexts
    assert not np.any(same)
    assert first.coordinator.public == exact.keys[0].public
    assert first.key_holder.public == exact.keys[1].public


@pytest.mark.parametrize("solver", ["masked", "chebyshev"])
def test_signs_are_those_of_the_open_mode(solver: str) -> None:
    opened = train(PEERS, penalty=0.1).predict(X[:8])
    with quick_training(PEERS, mode="hidden", solver=solver, **OPTIONS) as trained:
        np.testing.assert_array_equal(trained.predict(X[:8]), opened)
        assert set(opened) == {-1.0, 1.0}


def test_parts_of_entities_and_mean_offsets_are_classified() -> None:
    columns = [[0], [1], [2], [0, 1, 2]]
    given = [(x[:, at], y) for (x, y), at in zip(PEERS, columns, strict=True)]
    names = [[NAMES[at] for at in own] for own in columns]
    with quick_training(given, mode="hidden", features=names, **OPTIONS) as trained:
        whole = trained.predict(X[:5], peer="peer3")
        parts = {f"peer{i}": X[:5, at] for i, at in enumerate(columns[:3])}
        np.testing.assert_array_equal(trained.predict(parts, peer="peer0"), whole)
        offset = trained.predict(X[:5, [0]], peer="peer0", offset="mean")
        assert set(offset) <= {-1.0, 1.0}


def test_nobody_hands_out_theta() -> None:
    with quick_training(PEERS, mode="hidden", **OPTIONS) as trained:
        for name in ("coef_", "intercept_"):
            with pytest.raises(LeakError, match="nobody has theta"):
                getattr(trained, name)


def query(run: Run, rows: int, budget: QueryBudget) -> tuple[HiddenContributor, Exchange]:
    classifier = run.peers["p0"].classifier
    assert classifier is not None
    terms = QueryTerms(
        new_session(), "p0", ("p0",), rows, classifier.modulus, classifier.score_bound, 4
    )
    asker = HiddenContributor("p0", [terms], [classifier], [classifier.standard.apply(X[:rows])])
    own, held = run.keys
    other = QueryBudget({"p0": 1000}, 1000)
    scorers = [
        HiddenScorer(COORDINATOR, [terms], own, held.public, [budget]),
        HiddenScorer(KEY_HOLDER, [terms], held, own.public, [other]),
    ]
    return asker, Exchange([asker, *scorers])


def test_each_bit_that_the_asker_gets_is_a_fair_coin(exact: Run) -> None:
    coins = []
    for _ in range(5):
        with small_keys_allowed():
            asker, exchange = query(exact, 8, QueryBudget({"p0": 100}, 100))
            exchange.run()
        assert asker.places is not None
        bits = [m.array("bits", "|u1") for m in exchange.views["p0"] if m.kind == "bits"]
        np.testing.assert_array_equal(bits[0] ^ bits[1], asker.places)
        coins.append(bits)
    table = np.array([bits[0] for bits in coins])  # 40 coins are there but once in 700,000 runs
    assert 0.125 < table.mean() < 0.875
    assert np.ptp(table, axis=0).any()  # of the same row now this, now that


def test_either_helper_refuses_beyond_the_budget(exact: Run) -> None:
    budget = QueryBudget({"p0": 5}, 5)
    with small_keys_allowed():
        query(exact, 3, budget)[1].run()
        assert budget.rows_left("p0") == 2
        asker, exchange = query(exact, 3, budget)
        with pytest.raises(QueryBudgetError, match="2 more rows"):
            exchange.run()
    assert asker.places is None
    assert budget.rows_left("p0") == 2
    assert budget.rows_left("stranger") == 0


def test_a_row_far_out_of_range_is_refused_and_not_wrapped(exact: Run) -> None:
    classifier = exact.peers["p0"].classifier
    assert classifier is not None
    terms = QueryTerms(
        new_session(), "p0", ("p0",), 1, classifier.modulus, classifier.score_bound, 4
    )
    with pytest.raises(InputError, match="nothing like those"):
        HiddenContributor("p0", [terms], [classifier], [np.full((1, 4), 1e4)])
    with pytest.raises(InputError, match="finite"):
        HiddenContributor("p0", [terms], [classifier], [np.full((1, 4), np.nan)])


def test_the_hidden_mode_does_not_choose_the_penalty() -> None:
    with pytest.raises(ParameterError, match="would open the sums"):
        Run(penalty=None)
    with quick_training(PEERS, mode="hidden", fraction_bits=16) as trained:
        assert trained.penalty == 0.1


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="were agreed on"):
        Run(key_bits=BITS + 64)


def test_too_many_features_for_the_key_are_refused_before_anything_is_solved() -> None:
    wide = small_peers(width=20)
    with (
        pytest.raises(ParameterError, match="chebyshev"),
        quick_training(wide, mode="hidden", **OPTIONS),
    ):
        pass

"""The learners and the sums they are made from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sottovoce import learn
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.learn.estimators import (
    MLossClassifier,
    RadoBoostClassifier,
    RadoDescentClassifier,
    SummedRidgeClassifier,
    TwoClassLinear,
)
from sottovoce.learn.rados.rados import RadoMaker, boost, boosting_rounds, descend
from sottovoce.learn.ridge import (
    PENALTIES,
    ExampleSums,
    likeliest_penalties,
    local_sums,
    ridge_from_sums,
)
from sottovoce.learn.run.evaluate import ConfusionCounts
from sottovoce.learn.support import KeptFeatures, all_kept, kept_from_sums, local_support

CHANCE = np.random.default_rng(3)
ROWS = CHANCE.normal(size=(120, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 0]
SIGNS = np.where(ROWS[:, 0] + ROWS[:, 1] / 10 + CHANCE.normal(size=120) / 3 > 0.8, 1.0, -1.0)
ALL = all_kept(4)
LEARNERS = [
    RadoBoostClassifier(300, rounds=100),
    RadoDescentClassifier(300),
    MLossClassifier(300),
    SummedRidgeClassifier(),
]


def test_every_learner_of_the_door_is_tested_here() -> None:
    shown = [getattr(learn, name) for name in dir(learn)]
    public = {each for each in shown if isinstance(each, type) and issubclass(each, TwoClassLinear)}
    assert public == set(map(type, LEARNERS))


@parametrize_with_checks(LEARNERS)  # type: ignore[untyped-decorator] # sklearn has no types
def test_learners_keep_scikit_learns_conventions(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator] # sklearn's check


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_fits_most_of_what_it_was_shown(learner: SummedRidgeClassifier) -> None:
    learner = clone(learner)
    if "random_state" in learner.get_params():  # some draws of 300 rados are too poor for this
        learner.set_params(random_state=0)
    assert learner.fit(ROWS, SIGNS).score(ROWS, SIGNS) > 0.85
    np.testing.assert_array_equal(learner.predict(ROWS), learner.predict(sparse.csr_array(ROWS)))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("labels", "said"),
    [(np.arange(120) % 3, "multiclass"), (np.ones(120), "two values"), (ROWS[:, 0], "continuous")],
)
def test_labels_that_are_not_two_valued_are_refused(
    learner: SummedRidgeClassifier, labels: object, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        learner.fit(ROWS, labels)


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (RadoBoostClassifier(0), "n_rados must be >= 1"),
        (MLossClassifier(0), "n_rados must be >= 1"),
        (RadoBoostClassifier(30, rounds=0), "rounds"),
        (RadoDescentClassifier(30, weight=0), "weight"),
        (MLossClassifier(30, penalty=-1.0), "penalty"),
        (MLossClassifier(30, low_confidence=[9]), "low_confidence"),
        (SummedRidgeClassifier(-1.0), "penalty"),
        (SummedRidgeClassifier(0.0), "penalty"),
        (SummedRidgeClassifier(float("nan")), "penalty"),
        (SummedRidgeClassifier(None, penalties=[0.0]), "at least one candidate, all > 0"),
        (SummedRidgeClassifier(None, penalties=[]), "at least one candidate, all > 0"),
    ],
    ids=str,
)
def test_settings_that_make_no_learner_are_refused(
    learner: SummedRidgeClassifier, said: str
) -> None:
    with pytest.raises(SottovoceError, match=said):
        learner.fit(ROWS, SIGNS)


def test_a_seed_repeats_and_no_seed_does_not() -> None:
    def coefficients(seed: int | None) -> list[float]:
        found: list[float] = MLossClassifier(50, random_state=seed).fit(ROWS, SIGNS).coef_.tolist()
        return found

    assert coefficients(1) == coefficients(1)
    assert coefficients(None) != coefficients(None)


def test_a_column_of_low_confidence_is_shrunk_less() -> None:
    def share(**options: object) -> float:
        learner = MLossClassifier(5000, penalty=50.0, random_state=0, **options)  # type: ignore[arg-type] # its own
        weights = np.abs(learner.fit(ROWS, SIGNS).coef_[0]) * ROWS.std(axis=0)
        return float(weights[1] / weights.sum())

    assert share(low_confidence=[1]) > 1.5 * share()


def test_a_boosting_round_moves_the_best_feature_by_the_printed_step() -> None:
    rados = np.array([[2.0, 1.0], [1.0, -4.0]])
    first = next(boosting_rounds(rados, 1))
    r = 0.75  # of the first feature: (1 + 1/2)/2, against (1/4 - 1)/2 of the second
    assert first.feature == 0
    assert first.step == pytest.approx(np.log((1 + r) / (1 - r)) / (2 * 2.0))
    unscaled = np.array([0.5 * (1 - r), 0.5 * (1 - r / 2)]) / (1 - r * r)
    np.testing.assert_allclose(first.weights, unscaled / unscaled.sum())


def test_boosting_caps_a_perfect_edge_and_stops_without_one() -> None:
    assert np.isfinite(boost(np.ones((3, 1)), 5)).all()
    # A capped edge is where the printed reweighing alone would not stay a distribution.
    for done in boosting_rounds(np.ones((3, 1)), 5):
        assert done.weights.sum() == pytest.approx(1, abs=1e-12)
    assert list(boosting_rounds(np.zeros((3, 2)), 5)) == []


def test_descent_says_when_it_did_not_arrive() -> None:
    rados = RadoMaker(ROWS[:30], SIGNS[:30]).sample(50)
    with pytest.warns(UserWarning, match="not converged after 1 steps"):
        descend(rados, np.ones(4), most_steps=1)
    with pytest.raises(ParameterError, match="most_steps"):
        descend(rados, np.ones(4), most_steps=0)


def test_descent_on_all_rados_finds_the_logistic_regression() -> None:
    rows, signs = ROWS[:14, [0, 3]], SIGNS[:14]
    end = descend(RadoMaker(rows, signs).all(), np.full(2, 0.5), tolerance=1e-9)
    # sklearn's loss is the sum of logistic losses plus theta'theta / (2 C).
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10).fit(rows, signs)
    np.testing.assert_allclose(end.theta, peer.coef_[0], atol=1e-5)


def test_ridge_from_sums_is_ridge_on_standardised_rows() -> None:
    penalty = 0.3
    parts = np.split(np.arange(120), [40, 70])
    vector = np.sum([local_sums(ROWS[i], SIGNS[i], ALL).to_vector() for i in parts], axis=0)
    model = ridge_from_sums(ExampleSums.from_vector(vector, 4), penalty)
    scaler = StandardScaler().fit(ROWS)
    peer = Ridge(alpha=120 * penalty).fit(scaler.transform(ROWS), SIGNS)
    np.testing.assert_allclose(model.scores(ROWS), peer.predict(scaler.transform(ROWS)), atol=1e-9)


def test_a_constant_feature_does_no_harm() -> None:
    rows = np.column_stack([ROWS, np.full(120, 7.7)])
    sums = local_sums(rows, SIGNS, KeptFeatures(np.ones(5, bool)))
    assert sums.scales[4] == 1
    model = ridge_from_sums(sums, 0.1)
    plain = ridge_from_sums(local_sums(ROWS, SIGNS, ALL), 0.1)
    np.testing.assert_allclose(model.scores(rows), plain.scores(ROWS), atol=1e-9)


def evidence(rows: NDArray[np.float64], signs: NDArray[np.float64], penalty: float) -> float:
    """The long way: the logarithm of y's probability, from the covariance of all m labels."""
    m = len(rows)
    spread = rows.std(axis=0)
    x = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    # A basis of what is left when the mean is taken off: there y has m - 1 numbers.
    basis = np.linalg.svd(np.eye(m) - 1 / m)[0][:, : m - 1]
    x, y = basis.T @ x, basis.T @ signs
    covariance = np.eye(m - 1) + x @ x.T / (m * penalty)
    variance = y @ np.linalg.solve(covariance, y) / (m - 1)
    density = multivariate_normal(np.zeros(m - 1), variance * covariance)
    return float(density.logpdf(y))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(5, 25), st.integers(1, 7))
def test_the_likeliest_penalty_is_that_of_all_rows(seed: int, m: int, d: int) -> None:
    chance = np.random.default_rng(seed)
    rows = (chance.random((m, d)) < chance.random(d)) * chance.integers(1, 3, d).astype(float)
    signs = np.where(rows @ chance.normal(size=d) + chance.normal(size=m) > 0, 1.0, -1.0)
    signs[:2] = [1, -1]
    parts = [
        local_sums(rows[:3], signs[:3], all_kept(d)),
        local_sums(rows[3:], signs[3:], all_kept(d)),
    ]
    sums = ExampleSums.from_vector(sum(part.to_vector() for part in parts), d)
    (chosen,) = likeliest_penalties([sums])
    found = {penalty: evidence(rows, signs, penalty) for penalty in PENALTIES}
    assert found[chosen] == pytest.approx(max(found.values()), abs=1e-6)


def test_the_penalty_can_be_chosen_by_the_classifier() -> None:
    learner = SummedRidgeClassifier(None, penalties=[1e-3, 1e4]).fit(ROWS, SIGNS)
    assert learner.penalty_ == 1e-3


def test_an_evaluation_is_that_of_its_counts() -> None:
    result = ConfusionCounts(2, 2, 1, 2)
    assert result.count == 7
    assert result.misclassification == pytest.approx(3 / 7)
    assert result.precision == pytest.approx(2 / 4)
    assert result.recall == pytest.approx(2 / 3)
    nothing = ConfusionCounts(0, 0, 0, 3)
    assert (nothing.precision, nothing.recall, nothing.misclassification) == (0, 0, 0)


def support(*parts: object) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.sum([local_support(part) for part in parts], axis=0)  # type: ignore[arg-type] # matrices
    return total


def test_features_need_documents_and_peers() -> None:
    one, two = np.zeros((10, 5)), np.zeros((10, 5))
    one[:5, 0], two[:5, 0] = 1, 1  # five documents at each of two peers
    one[:9, 1], two[:4, 1] = 1, 1  # four documents at one of them
    one[:9, 2] = 1  # one peer
    one[:, 3], two[:7, 3] = 1, 1  # all but three documents: the totals less its row show those
    one[:, 4], two[:7, 4] = 2, 2  # the same with counts, where the totals do not
    kept = kept_from_sums(support(one, two))
    np.testing.assert_array_equal(kept.kept, [True, False, False, False, True])
    assert kept.apply(one).shape == (10, 2)
    assert kept.width == 2

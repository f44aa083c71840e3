"""The paper's arrangement: reproduced under its name, and attacked; the same attacks on ours."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce_lab.learn._data import ionosphere
from support.captured import captured
from support.hidden_systems import two_keys
from support.trainings import Peers, pooled, quick_training, small_peers

from sottovoce.errors import PaperModeWarning, QueryBudgetError
from sottovoce.learn import train
from sottovoce.learn.hidden.classify import HiddenScorer
from sottovoce.learn.open import train as open_training
from sottovoce.learn.paillier.wire import array_from_bytes, decrypt, decrypt_integers
from sottovoce.learn.paper.mode import PaperCoordinator, PaperScorer
from sottovoce.learn.ridge import ExampleSums, local_sums, ridge_from_sums
from sottovoce.learn.run.records import read_budget, read_paper
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import ALLOW_RARE, COORDINATOR
from sottovoce.learn.wire.exchange import Exchange

PEERS = small_peers()
X, Y = pooled(PEERS)
Floats = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::sottovoce.errors.PaperModeWarning")


def test_the_paper_mode_warns_and_the_others_do_not() -> None:
    with (
        pytest.warns(PaperModeWarning, match="holds the key"),
        quick_training(PEERS, mode="paper"),
    ):
        pass


def test_exact_sums_round_the_ring_are_the_plain_ones() -> None:
    with quick_training(PEERS, mode="paper", statistics="exact", penalty=0.1) as trained:
        opened = train(PEERS, penalty=0.1)
        np.testing.assert_array_equal(trained.coef_, opened.coef_)
        np.testing.assert_array_equal(trained.predict(X), opened.predict(X))


def test_rados_in_the_paper_mode_come_close_to_ridge() -> None:
    plain = ridge_from_sums(local_sums(X, Y, all_kept(4)), 0.1)
    with quick_training(PEERS, mode="paper", rados=5000) as trained:
        np.testing.assert_allclose(trained.coef_[0], plain.coefficients, atol=0.1)


def unit_rows(means: Floats, scales: Floats) -> Floats:
    """The mean row, and then that row one deviation out in each feature."""
    return means + np.vstack([np.zeros_like(means), np.diag(scales)])


def read_off(scores: Floats) -> Floats:
    """Theta of standardised features from the scores of `unit_rows`."""
    return np.asarray(scores[1:] - scores[0])


def test_unit_vectors_give_theta_to_the_papers_coordinator() -> None:
    with quick_training(PEERS, mode="paper", statistics="exact", penalty=0.1) as trained:
        with captured(PaperScorer) as scorers:
            trained.predict(unit_rows(X.mean(axis=0), X.std(axis=0)))
        theta = read_off(seen_scores(scorers))
        np.testing.assert_allclose(theta, trained.coef_[0] * X.std(axis=0), atol=1e-5)


def seen_scores(scorers: list[PaperScorer]) -> Floats:
    """What the paper's coordinator opens of the latest query."""
    seen = scorers[-1].scores
    assert seen is not None
    return seen


def test_unit_vectors_give_nothing_in_the_hidden_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Floats] = []
    scoring = HiddenScorer._comparing

    def spied(scorer: HiddenScorer, session: bytes, share: Any) -> Any:  # noqa: ANN401 - whatever it is given
        modulus = scorer.terms.modulus
        opened.append(np.array([float(each) / modulus for each in share]))
        return scoring(scorer, session, share)

    monkeypatch.setattr(HiddenScorer, "_comparing", spied)
    options: dict[str, Any] = {"fraction_bits": 16, "penalty": 0.1}
    with quick_training(PEERS, mode="hidden", queries=11, **options) as trained:
        rows = unit_rows(X.mean(axis=0), X.std(axis=0))
        first, again = trained.predict(rows), trained.predict(rows)
        np.testing.assert_array_equal(first, again)
        # All that either helper opens is uniform below the modulus: asked again, it is another.
        assert len(opened) == 4
        assert np.abs(opened[0] - opened[2]).min() > 1e-9
        assert np.abs(read_off(opened[0]) - read_off(opened[2])).max() > 0.01
        with pytest.raises(QueryBudgetError):
            trained.predict(rows)
        kept: Any = trained._kept(COORDINATOR)["helpers"]
        assert read_budget(kept[0]).left("peer0") == 1


def text_peers() -> Peers:
    """Documents by words; the last word is in one document only."""
    chance = np.random.default_rng(2)
    given = []
    for _ in range(4):
        x = (chance.random((25, 8)) < 0.4).astype(float)
        x[:, 7] = 0
        given.append((x, np.where(x[:, 0] > x[:, 1], 1.0, -1.0)))
    given[1][0][17, 7] = 1
    return given


def test_a_rare_words_row_is_its_document_for_the_papers_coordinator() -> None:
    peers = text_peers()
    with (
        captured(PaperCoordinator) as coordinators,
        quick_training(peers, mode="paper", statistics="exact", penalty=0.1),
    ):
        (coordinator,) = coordinators
        assert coordinator.opened is not None
        sums = ExampleSums.from_vector(coordinator.opened, 8)
    np.testing.assert_array_equal(sums.products[7], peers[1][0][17])


def test_the_open_mode_opens_no_rare_words_row(monkeypatch: pytest.MonkeyPatch) -> None:
    peers, seen = text_peers(), []
    solving = open_training.solved_statistics

    def spied(total: Floats, *others: Any) -> Any:  # noqa: ANN401 - whatever it is given
        seen.append(total)
        return solving(total, *others)

    monkeypatch.setattr(open_training, "solved_statistics", spied)
    train(peers, penalty=0.1)
    # The first word is left out too: no peer has five documents in which it is not the label.
    sums = ExampleSums.from_vector(seen[0], 6)
    documents = {tuple(row[1:7]) for x, _ in peers for row in x}
    assert not documents & {tuple(row) for row in sums.products}
    rare: dict[str, Any] = {"fewest_documents": 1, "fewest_peers": 1, "allow_rare": ALLOW_RARE}
    train(peers, penalty=0.1, **rare)  # the attack has power
    opened = ExampleSums.from_vector(seen[1], 8)
    assert tuple(opened.products[7]) == tuple(peers[1][0][17])


def test_one_peer_with_the_coordinator_reads_the_peers_before_it() -> None:
    with (
        captured(Exchange) as exchanges,
        quick_training(PEERS, mode="paper", statistics="exact", penalty=0.1),
    ):
        handed = [m for m in exchanges[0].views["peer1"] if m.kind == "running total"]
        key = two_keys()[0]
        array = array_from_bytes(handed[-1].item("array", bytes), key.public)
        opened = decrypt_integers(array, key)
    first = local_sums(*PEERS[0], all_kept(4)).to_vector()
    np.testing.assert_allclose(np.ldexp(opened.astype(float), -30), first, atol=1e-8)


SPLIT = [list(range(9)), list(range(9, 18)), list(range(18, 26)), list(range(26, 34))]


@pytest.fixture(
    scope="module",
    params=["made_up_data", pytest.param("shared_data", marks=pytest.mark.long)],
    ids=["made-up", "real"],
)
def feature_split(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 - whatever it is given
    """Radar returns, each peer with a part of the features of every one, in the paper mode."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOTTOVOCE_DATA", str(request.getfixturevalue(request.param)))
        rows, signs = ionosphere()
    given = [(rows[:, at], signs) for at in SPLIT]
    names = [[f"x{at}" for at in own] for own in SPLIT]
    with quick_training(given, mode="paper", features=names, penalty=0.1) as trained:
        yield trained, rows, signs


def test_protocol_3_as_printed_calls_everything_positive(feature_split: Any) -> None:  # noqa: ANN401 - whatever it is given
    trained, rows, _ = feature_split
    with captured(PaperScorer) as scorers:
        for at, own in enumerate(SPLIT):
            called = trained.predict(rows[:, own], peer=f"peer{at}", offset="print")
            assert np.all(called == 1)
    scores = seen_scores(scorers)
    assert scores.mean() > 20 * scores.std()  # the offset drowns the local score


def test_the_corrected_offset_leaves_the_local_score_its_say(feature_split: Any) -> None:  # noqa: ANN401 - whatever it is given
    trained, rows, signs = feature_split
    printed = np.mean(signs != 1)
    wrong = [
        np.mean(trained.predict(rows[:, own], peer=f"peer{at}", offset="mean") != signs)
        for at, own in enumerate(SPLIT)
    ]
    assert min(wrong) < printed - 0.04
    assert max(wrong) <= printed + 0.03


def test_the_exact_sum_of_local_scores_beats_every_offset(feature_split: Any) -> None:  # noqa: ANN401 - whatever it is given
    trained, rows, signs = feature_split
    parts = {f"peer{at}": rows[:, own] for at, own in enumerate(SPLIT)}
    wrong = np.mean(trained.predict(parts, peer="peer2") != signs)
    assert wrong < 0.2
    assert wrong < np.mean(trained.predict(parts["peer2"], peer="peer2", offset="mean") != signs)


def test_a_peer_holds_theta_of_its_own_features_only(feature_split: Any) -> None:  # noqa: ANN401 - whatever it is given
    trained, _, _ = feature_split
    for at, own in enumerate(SPLIT):
        classifier = read_paper(trained._kept(f"peer{at}")["classifiers"][0])
        assert classifier.theta.shape == (len(own) + 1,)
        theta = decrypt(classifier.theta, two_keys()[0])
        scales = classifier.standard.scales[own]
        np.testing.assert_allclose(theta[:-1], trained.coef_[0, own] * scales, atol=1e-6)


def test_paper_rounds_are_the_printed_ones() -> None:
    with quick_training(PEERS, mode="paper") as trained:
        kinds = {said.kind for said in trained.transcript}
        assert {"features", "key", "running total", "classifier"} <= kinds

"""The open mode: what is opened is the plain sum, and what is solved is the plain solve."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.trainings import Peers, pooled, small_peers

from sottovoce.errors import (
    AbortedError,
    DroppedFeaturesWarning,
    InputError,
    LateMessageError,
    LeakError,
    ParameterError,
    TooFewPartiesError,
)
from sottovoce.learn import train
from sottovoce.learn.documents import Table
from sottovoce.learn.modes.open import TrainingCoordinator, TrainingPeer
from sottovoce.learn.ridge import ExampleSums, likeliest_penalties, local_sums, ridge_from_sums
from sottovoce.learn.run.leakage import mode_leakage
from sottovoce.learn.sums.fixed import FixedPoint
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import ALLOW_RARE, LocalData, Recipe, TrainingTerms
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Message, new_session
from sottovoce.learn.wire.stages import Script, Stage, Staged, stage_session

PEERS = small_peers()
X, Y = pooled(PEERS)
NAMES = ("a", "b", "c", "d")


def summed_integers(peers: Peers, places: int) -> ExampleSums:
    """The sum of the rounded summands, without any protocol."""
    width = peers[0][0].shape[1]
    numbers = FixedPoint(float((1 << (62 - places)) // len(peers)), len(peers), places)
    total = sum(numbers.encode(local_sums(x, y, all_kept(width)).to_vector()) for x, y in peers)
    return ExampleSums.from_vector(numbers.decode(np.asarray(total)), width)


def test_theta_is_that_of_the_same_rounded_sums_to_the_last_bit() -> None:
    trained = train(PEERS, penalty=0.1)
    plain = ridge_from_sums(summed_integers(PEERS, 30), 0.1)
    np.testing.assert_array_equal(trained.coef_[0], plain.coefficients)
    assert trained.intercept_[0] == plain.intercept


def test_the_penalty_is_the_likeliest_of_the_pooled_rows() -> None:
    assert [train(PEERS).penalty] == likeliest_penalties([local_sums(X, Y, all_kept(4))])
    assert train(PEERS, penalties=[7.0]).penalty == 7.0


def test_choosing_the_penalty_opens_nothing_more() -> None:
    chosen, given = train(PEERS), train(PEERS, penalty=0.1)
    kinds = [(said.sender, said.receiver, said.kind) for said in chosen.transcript]
    assert kinds == [(said.sender, said.receiver, said.kind) for said in given.transcript]
    sizes = [
        sum(said.bytes for said in each.transcript if said.kind == "masked")
        for each in (chosen, given)
    ]
    assert sizes[0] == sizes[1]


def test_many_rados_come_close_to_ridge() -> None:
    for penalty in (0.1, 1.0):
        trained = train(PEERS, statistics="rados", penalty=penalty, rados=20_000)
        plain = ridge_from_sums(local_sums(X, Y, all_kept(4)), penalty)
        np.testing.assert_allclose(trained.coef_[0], plain.coefficients, atol=0.02)
        assert abs(trained.intercept_[0] - plain.intercept) < 0.05
    few = train(PEERS, statistics="rados", penalty=1.0, rados=8)
    assert np.abs(few.coef_[0] - plain.coefficients).max() > 0.005


def test_a_feature_that_a_peer_lacks_counts_as_zero() -> None:
    own = [NAMES, NAMES, NAMES, NAMES[:2]]
    given = [*PEERS[:3], (PEERS[3][0][:, :2], PEERS[3][1])]
    trained = train(given, features=own, penalty=0.1)
    lifted = [*PEERS[:3], (np.hstack([PEERS[3][0][:, :2], np.zeros((30, 2))]), PEERS[3][1])]
    np.testing.assert_array_equal(trained.coef_, train(lifted, penalty=0.1).coef_)
    rows = PEERS[3][0][:, :2]
    np.testing.assert_array_equal(
        trained.predict(rows, peer="peer3"), trained.predict(lifted[3][0], peer="peer0")
    )


def test_peers_name_their_columns_in_any_order() -> None:
    turned = [*PEERS[:3], (PEERS[3][0][:, ::-1], PEERS[3][1])]
    trained = train(turned, features=[NAMES, NAMES, NAMES, NAMES[::-1]], penalty=0.1)
    np.testing.assert_array_equal(trained.coef_, train(PEERS, penalty=0.1).coef_)


def test_parts_of_the_same_entities_add_up_to_the_whole_score() -> None:
    own = [NAMES[:2], NAMES[1:3], NAMES[2:], NAMES]
    columns = [[0, 1], [1, 2], [2, 3], [0, 1, 2, 3]]
    given = [(x[:, at], y) for (x, y), at in zip(PEERS, columns, strict=True)]
    trained = train(given, features=own, penalty=0.1)
    rows = X
    parts = {f"peer{i}": rows[:, at] for i, at in enumerate(columns[:3])}
    whole = trained.predict(rows, peer="peer3")
    np.testing.assert_array_equal(trained.predict(parts, peer="peer1"), whole)
    assert trained.query_traffic.bytes > 0
    with pytest.raises(InputError, match="as many rows"):
        trained.predict({**parts, "peer2": parts["peer2"][:3]}, peer="peer1")


def test_evaluation_adds_up_counts() -> None:
    trained = train(PEERS, penalty=0.1)
    held = {f"peer{i}": given for i, given in enumerate(PEERS)}
    wrong = trained.evaluate(held)
    assert wrong.count == len(Y)
    assert wrong.misclassification == np.mean(trained.predict(X) != Y)
    with pytest.raises(TooFewPartiesError):
        trained.evaluate({"peer0": PEERS[0]})


@pytest.mark.parametrize("held", [None, {}])
def test_training_data_are_called_no_estimate(held: dict[str, Any] | None) -> None:
    trained = train(PEERS, penalty=0.1)
    with pytest.raises(ParameterError, match="give no estimate"):
        trained.evaluate(held)
    assert trained.evaluate(held, training_data=True).count == len(Y)


def rare_word_peers() -> Peers:
    chance = np.random.default_rng(5)
    given = []
    for _ in range(4):
        x = (chance.random((30, 5)) < 0.5).astype(float)
        x[:, 4] = 0
        given.append((x, np.where(x[:, 0] > x[:, 1], 1.0, -1.0)))
    given[2][0][7, 4] = 1  # one document uses the word
    return given


def test_a_rare_word_is_not_opened_and_has_no_weight() -> None:
    trained = train(rare_word_peers(), penalty=0.1)
    assert trained.coef_[0, 4] == 0
    assert np.all(trained.coef_[0, :4] != 0)
    fewest: dict[str, Any] = {"fewest_documents": 1, "fewest_peers": 1}
    opened = train(rare_word_peers(), penalty=0.1, allow_rare=ALLOW_RARE, **fewest)
    assert opened.coef_[0, 4] != 0


@pytest.mark.parametrize("fewest", [{"fewest_documents": 4}, {"fewest_peers": 1}])
def test_fewer_documents_or_peers_are_accepted_by_their_name_only(fewest: dict[str, Any]) -> None:
    for allowed in (None, "yes"):
        with pytest.raises(LeakError, match="a word of one document"):
            train(rare_word_peers(), penalty=0.1, allow_rare=allowed, **fewest)
    train(rare_word_peers(), penalty=0.1, allow_rare=ALLOW_RARE, **fewest)
    train(rare_word_peers(), penalty=0.1, fewest_documents=9, fewest_peers=3)


def test_nothing_is_trained_where_nothing_may_be_opened() -> None:
    lonely = [(np.eye(3) * (i + 1), np.array([1.0, -1.0, 1.0])) for i in range(4)]
    with pytest.raises(LeakError, match="nothing may be opened"):
        train(lonely, penalty=0.1)


def test_the_table_states_all_that_is_told_of_supports() -> None:
    data = {f"p{i}": LocalData.from_rows(x, y, NAMES, NAMES) for i, (x, y) in enumerate(PEERS)}
    terms = terms_of(data)
    peers = [TrainingPeer(name, terms, each) for name, each in data.items()]
    exchange = Exchange([TrainingCoordinator(terms), *peers])
    exchange.run()
    told = {
        stage: [m.array("vector", "<u8").size for m in exchange.views["p0"] if m.kind == "sum"
                and m.session == stage_session(terms.session, stage)]
        for stage in ("support", "moments", "statistics")
    }  # fmt: skip
    assert told == {"support": [0], "moments": [], "statistics": [0]}
    stated = {each.who: each.what for each in mode_leakage("open", terms.recipe).learns}
    counts = ["how many documents use it and how many lack it", "how many peers have it dropped"]
    assert all(number in stated["coordinator"] for number in counts)
    assert not any(number in stated["every peer"] for number in counts)
    assert "which features are kept" in stated["every peer"]


def terms_of(data: dict[str, LocalData], **changes: Any) -> TrainingTerms:  # noqa: ANN401 - whatever it is given
    identities = {name: each.identity.public for name, each in data.items()}
    return TrainingTerms(new_session(), identities, NAMES, Recipe(penalty=0.1, **changes))


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"peers": PEERS[:2]}, TooFewPartiesError, "at least 3"),
    ({"mode": "secret"}, ParameterError, "mode must be one of"),
    ({"nonsense": 1}, ParameterError, "options must be among"),
    ({"statistics": "means"}, ParameterError, "statistics must be one of"),
    ({"penalty": 0.0}, ParameterError, "penalty must be finite and > 0"),
    ({"penalty": float("nan")}, ParameterError, "penalty must be finite and > 0"),
    ({"peers": {"coordinator": PEERS[0], "b": PEERS[1], "c": PEERS[2]}}, ParameterError, "called"),
    ({"peers": [(x[:, : 4 - (i == 1)], y) for i, (x, y) in enumerate(PEERS)]}, InputError,
     "agree on the features"),
    ({"features": ["a", "b"]}, InputError, "agree on the features"),
    ({"features": [NAMES, NAMES]}, InputError, "each of 4 peers"),
    ({"features": [NAMES, NAMES, NAMES, ("a", "b", "b", "c")]}, InputError, "named twice"),
    ({"peers": [(np.where(x > 3, np.nan, x), y) for x, y in PEERS]}, InputError, "finite"),
    ({"peers": [(x, np.where(x[:, 0] > 2, 3, y)) for x, y in PEERS]}, InputError, "two values"),
    ({"peers": [(x, np.ones(len(x))) for x, _ in PEERS]}, InputError, "two values"),
    ({"peers": [(x, y[:-1]) for x, y in PEERS]}, InputError, "one label per row"),
    ({"peers": [(x, np.where(y > 0, np.nan, y)) for x, y in PEERS]}, InputError, "labels must be"),
    ({"peers": [(x * 1e6, y) for x, y in PEERS], "penalty": 0.1}, ParameterError, "larger bound"),
    ({"peers": PEERS, "fraction_bits": 62, "penalty": 0.1}, ParameterError, "fraction_bits"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "error", "text"), BAD, ids=lambda case: None)
def test_bad_input_is_refused_by_its_name(
    given: dict[str, Any], error: type[Exception], text: str
) -> None:
    options = {"peers": PEERS, **given}
    with pytest.raises(error, match=text):
        train(options.pop("peers"), **options)


def test_predict_refuses_rows_that_are_not_the_peers() -> None:
    trained = train(PEERS, penalty=0.1)
    with pytest.raises(InputError, match="4 features"):
        trained.predict(X[:, :3])
    with pytest.raises(InputError, match="peers of the training"):
        trained.predict(X, peer="stranger")
    with pytest.raises(ParameterError, match="offset is for"):
        trained.predict(X, offset="mean")


def test_the_transcript_adds_up_to_the_traffic() -> None:
    trained = train(PEERS, penalty=0.1)
    assert sum(said.bytes for said in trained.transcript) == trained.bytes
    assert len(trained.transcript) == trained.traffic.messages
    assert {said.sender for said in trained.transcript} == {"coordinator", *trained.terms.peers}
    assert trained.rounds == 49  # two each to compare terms and kept features, and the training


def staged_with(error: Exception) -> tuple[Staged, Message]:
    """A party in a stage that takes no message, and no silence either."""
    session = new_session()
    broken = mock.Mock(has_finished=False, **{"start.return_value": []})
    broken.receive.side_effect = broken.time_out.side_effect = error

    def script() -> Script:
        yield Stage("one", lambda _: broken)

    staged = Staged("a", session, ("one",), script())
    staged.start()
    return staged, Message(stage_session(session, "one"), "b", "a", 1, "word", {})


def test_an_error_inside_a_stage_ends_the_run() -> None:
    staged, message = staged_with(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        staged.receive(message)
    with pytest.raises(AbortedError):
        staged.receive(message)
    silent, message = staged_with(TooFewPartiesError())
    with pytest.raises(TooFewPartiesError):
        silent.time_out()
    with pytest.raises(AbortedError):
        silent.receive(message)


def test_a_refused_message_does_not_end_the_run() -> None:
    staged, message = staged_with(LateMessageError())
    for _ in range(2):
        with pytest.raises(LateMessageError):
            staged.receive(message)


def test_features_of_one_peer_alone_are_dropped_aloud() -> None:
    names = [["a", "b", "c", f"own{i}"] for i in range(4)]
    with pytest.warns(DroppedFeaturesWarning, match="4 of 7 features"):
        trained = train(PEERS, features=names, penalty=0.1)
    assert trained.kept_features_ == ("a", "b", "c")
    assert train(PEERS, penalty=0.1).kept_features_ == train(PEERS, penalty=0.1).features_


def test_what_holds_private_rows_does_not_print_them() -> None:
    rows = np.full((6, 2), 12345.0)
    sums = local_sums(rows, np.ones(6), all_kept(2))
    for held in (Table.from_rows(rows), sums):
        shown = repr(held).replace(f"{id(held):x}", "its address")
        assert "12345" not in shown
        assert str(6 * 12345) not in shown

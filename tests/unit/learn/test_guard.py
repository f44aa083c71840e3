"""The guard of the open mode: no more columns than everybody allows, and none all but alike."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.errors import AbortedError, DisagreementError, LeakError
from sottovoce.learn import train
from sottovoce.learn.modes import guard
from sottovoce.learn.modes.guard import PairTests
from sottovoce.learn.modes.open import TrainingCoordinator, TrainingPeer
from sottovoce.learn.run.leakage import mode_leakage
from sottovoce.learn.support import OpenedLimit, most_words
from sottovoce.learn.training_terms import LocalData, Recipe, TrainingTerms
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Party, new_session
from sottovoce.learn.wire.stages import stage_session

pytestmark = pytest.mark.opened_share
WORDS = 60
NAMES = tuple(f"w{at:02}" for at in range(WORDS))
CHANCES = 0.5 / np.arange(1, WORDS + 1) ** 0.5
Rows = NDArray[np.float64]
Given = dict[str, tuple[Rows, Rows]]
Limits = dict[str, OpenedLimit]


def the_rows(peers: int = 4, documents: int = 60) -> Given:
    """Words that fall off as in texts, and a label that follows the second."""
    chance = np.random.default_rng(8)
    found = {}
    for at in range(peers):
        x = (chance.random((documents, WORDS)) < CHANCES).astype(float)
        y = np.where((x[:, 1] > 0) ^ (chance.random(documents) < 0.2), 1.0, -1.0)
        found[f"p{at}"] = (x, y)
    return found


def the_parties(rows: Given, limits: Limits | None = None, **recipe: Any) -> list[Party]:  # noqa: ANN401 - a recipe's fields
    """The state machines of one training."""
    own: Limits = limits or {}
    data = {
        name: replace(LocalData.from_rows(x, y, NAMES, NAMES), limit=own.get(name, OpenedLimit()))
        for name, (x, y) in rows.items()
    }
    identities = {name: each.identity.public for name, each in data.items()}
    stated = {name: len(y) for name, (_, y) in rows.items()}
    settings = Recipe(penalty=0.1, **recipe)
    terms = TrainingTerms(new_session(), identities, NAMES, settings, documents=stated)
    parties: list[Party] = [TrainingCoordinator(terms, own.get("coordinator"))]
    return parties + [TrainingPeer(name, terms, each) for name, each in data.items()]


def opened(parties: list[Party], faults: Faults | None = None) -> list[int]:
    """Which words' sums were opened, as every peer has it."""
    Exchange(parties, faults=faults).run()
    each = [np.flatnonzero(p.kept.kept) for p in parties if isinstance(p, TrainingPeer) and p.kept]
    assert len(each) >= 3
    for other in each:
        np.testing.assert_array_equal(other, each[0])
    found: list[int] = each[0].tolist()
    return found


def test_the_most_used_words_are_opened_as_many_as_the_documents_hide() -> None:
    rows = the_rows()
    found = opened(the_parties(rows))
    uses = np.sum([x.sum(axis=0) for x, _ in rows.values()], axis=0)
    order = np.argsort(-uses, kind="stable")
    assert sorted(order[: len(found)].tolist()) == found
    labels = [sum((y > 0).sum() for _, y in rows.values()) * 0.75]
    pooled = most_words(180, uses[order] * 0.75, labels)
    assert pooled * 0.7 < len(found) <= pooled < WORDS
    twice = opened(the_parties(the_rows(documents=120)))
    assert len(twice) > len(found)


@pytest.mark.parametrize("statistics", ["exact", "rados"])
@pytest.mark.parametrize("who", ["p2", "coordinator"])
def test_the_strictest_partys_limit_holds(who: str, statistics: str) -> None:
    rows = the_rows()
    usual = opened(the_parties(rows, statistics=statistics, rados=20))
    strict = {who: OpenedLimit(share=0.3)}
    fewer = opened(the_parties(rows, strict, statistics=statistics, rados=20))
    assert 0 < len(fewer) < len(usual)
    loose = {who: OpenedLimit(share=0.9)}
    assert opened(the_parties(rows, loose, statistics=statistics, rados=20)) == usual


def test_so_few_words_that_most_rows_repeat_are_not_opened_for_being_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where somebody allows 20 rare words, only those that cannot tell 180 documents apart."""
    unlimited = {f"p{at}": OpenedLimit(share=1.0) for at in range(4)}
    chance = np.random.default_rng(9)
    rows = {
        name: ((chance.random(x.shape) < 0.05).astype(float), y)
        for name, (x, y) in the_rows().items()
    }
    monkeypatch.setattr(guard, "_fewest", lambda _own, _told: 20)
    assert 0 < len(opened(the_parties(rows, unlimited))) <= np.log2(180)


def test_documents_of_peers_that_one_has_not_named_hide_nothing() -> None:
    rows = the_rows()
    named = {"p1": OpenedLimit(named=("p0", "p2"))}
    assert len(opened(the_parties(rows, named))) < len(opened(the_parties(rows)))
    three = the_rows(peers=3)
    two = {"p1": OpenedLimit(collude=2)}
    assert len(opened(the_parties(three, two))) < len(opened(the_parties(three)))


def test_a_peers_own_documents_bound_what_it_allows_whatever_it_is_told() -> None:
    """Of a peer whose documents use hardly a word few bits would be hidden."""
    rows = the_rows()
    x, y = rows["p3"]
    thin = x * (np.random.default_rng(3).random(x.shape) < 0.15)
    assert len(opened(the_parties({**rows, "p3": (thin, y)}))) < len(opened(the_parties(rows)))


def test_a_coordinator_that_opens_more_than_is_allowed_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "_fewest", lambda _own, told: max(told) + 1)
    with pytest.raises(DisagreementError) as refused:
        opened(the_parties(the_rows()))
    assert "lets the sums of at most" in str(refused.value)
    assert "most_opened_share" in str(refused.value)


def test_a_coordinator_that_opens_other_than_the_most_used_words_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    telling = guard._telling

    def lying(kind: str, columns: Any, parties: Any) -> Any:  # noqa: ANN401 - as there
        return telling(kind, columns[::-1].copy() if kind == "opened" else columns, parties)

    monkeypatch.setattr(guard, "_telling", lying)
    with pytest.raises(AbortedError, match="the most used must be opened"):
        opened(the_parties(the_rows()))


def test_where_no_word_is_allowed_it_is_refused_and_the_sentence_says_what_has_no_limit() -> None:
    nothing = {"p1": OpenedLimit(share=0.0001)}
    with pytest.raises(
        LeakError, match="none of 60 words may be opened of 240 documents"
    ) as refused:
        opened(the_parties(the_rows(), nothing))
    assert "hidden mode or learn count, which have no such limit" in str(refused.value)


def alike_rows(flips: int) -> Given:
    """The fourth word is where the third is but for documents of two peers, the fifth never."""
    rows = the_rows()
    for at, (x, _) in enumerate(rows.values()):
        x[:, 3], x[:, 4] = x[:, 2], 1 - x[:, 2]
        if at < 2:
            x[:flips, 3] = 1 - x[:flips, 3]
    return rows


@pytest.mark.parametrize(("flips", "left_out"), [(0, 0), (1, 1), (4, 1), (5, 0)])
def test_a_word_that_differs_from_another_in_few_documents_is_left_out(
    flips: int, left_out: int
) -> None:
    found = opened(the_parties(alike_rows(flips)))
    assert len({2, 3} & set(found)) == 2 - left_out
    assert 4 in found or left_out  # the opposite of the third: alike to the fourth where that is


def test_a_word_that_tells_the_label_but_for_few_documents_is_left_out() -> None:
    rows = the_rows()
    for x, y in rows.values():
        x[:, 0] = y > 0
    assert 0 in opened(the_parties(rows))
    rows["p0"][0][:3, 0] = 1 - rows["p0"][0][:3, 0]
    assert 0 not in opened(the_parties(rows))


def test_where_all_words_tell_the_label_the_sentence_says_so() -> None:
    rows = {
        name: (np.tile(y[:, None] > 0, WORDS).astype(float), y)
        for name, (_, y) in the_rows().items()
    }
    for x, _ in rows.values():
        x[0] = 1 - x[0]
    with pytest.raises(LeakError, match="each is a label's"):
        opened(the_parties(rows, {n: OpenedLimit(share=1) for n in (*rows, "coordinator")}))


def test_no_more_than_the_pairs_bits_is_opened_of_pairs() -> None:
    """What the coordinator hears of a pair is zero, or a number that is another each time."""
    rows = alike_rows(2)
    heard = []
    for _ in range(2):
        parties = the_parties(rows)
        exchange = Exchange(parties)
        exchange.run()
        coordinator: Any = parties[0]
        session = stage_session(coordinator.terms.session, "pairs")
        told = [m for m in exchange.views["p0"] if m.session == session and m.kind == "sum"]
        assert [m.array("vector", "<u8").size for m in told] == [0]
        heard.append(coordinator.guarded.kept.kept)
    np.testing.assert_array_equal(*heard)


def test_numbers_of_any_size_count_as_used_in_half_of_the_documents() -> None:
    chance = np.random.default_rng(2)
    peers = {n: (chance.normal(size=(60, 30)), y) for n, (_, y) in the_rows().items()}
    trained = train(peers, penalty=0.1)
    assert len(trained.kept_features_) == 30
    few = {n: (x[:12], y[:12]) for n, (x, y) in peers.items()}
    assert 0 < len(train(few, penalty=0.1).kept_features_) < 30


def test_a_coordinator_that_tells_no_alike_words_reads_a_document_as_the_table_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = the_rows()
    for x, _ in rows.values():
        x[:, 1] = x[:, 0]
    first = rows["p0"][0]
    first[3, 1] = 1 - first[3, 0]
    assert not {0, 1} <= set(opened(the_parties(rows)))
    monkeypatch.setattr(PairTests, "keep_most_used", lambda self, _: np.ones(self.uses.size, bool))
    found = opened(the_parties(rows))
    assert {0, 1} <= set(found)
    summed = np.sum([x.T @ x for x, _ in rows.values()], axis=0)
    read = np.flatnonzero(np.abs(summed[0] - summed[1]))
    assert {*read, 0, 1} >= {*np.flatnonzero(first[3]), 0, 1}
    said = {row.who: row.what for row in mode_leakage("open", Recipe()).against}
    assert "off the difference of two rows" in said["lying coordinator"]

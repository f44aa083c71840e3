"""What is opened of the same documents counts together, over all trainings of a peer."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.openings import MemoryInProcess
from support.text_runs import NAMES as PEERS
from support.text_runs import made_holdings, made_terms

from sottovoce.errors import LeakError
from sottovoce.federation.party.memory import PartyMemory
from sottovoce.learn.attacks.audit import audit_openings
from sottovoce.learn.attacks.opening import OpenedSums
from sottovoce.learn.documents import Table
from sottovoce.learn.openings import EarlierSums
from sottovoce.learn.run.party import run_in_process

pytestmark = pytest.mark.opened_share
WORDS = tuple(f"w{at:02}" for at in range(80))
CHANCES = np.tile(0.5 / np.arange(1, 41) ** 0.4, 2)
Tables = Mapping[str, Table]


def the_tables(documents: int = 60) -> dict[str, Table]:
    """Two halves of words that are used alike."""
    chance = np.random.default_rng(4)
    found = {}
    for name in PEERS:
        rows = (chance.random((documents, len(WORDS))) < CHANCES).astype(float)
        labels = np.where((rows[:, 1] > 0) ^ (chance.random(documents) < 0.2), "spam", "ham")
        found[name] = Table(rows, tuple(labels.tolist()), WORDS)
    return found


class Ada:
    """Trains with the others, with a memory of her own."""

    def __init__(self) -> None:
        self.memory = MemoryInProcess()

    def opens(
        self, tables: Tables, words: slice = slice(None), **recipe: object
    ) -> NDArray[np.intp]:
        """Of which words sums are opened."""
        given = {
            name: Table(each.rows[:, words], each.labels, WORDS[words])
            for name, each in tables.items()
        }
        holdings = made_holdings(given)
        holdings["ada"] = replace(holdings["ada"], memory=self.memory)
        options = {"penalty": 0.1, **recipe}
        labels = tuple(sorted({*(tables["ada"].labels or ())}))
        terms = made_terms(features=WORDS[words], recipe=options, labels=labels)
        kept: Any = run_in_process(terms, holdings).results["ada"]["classifiers"]
        return np.flatnonzero(kept[0]["kept"])


FIRST, SECOND = slice(0, 40), slice(40, 80)


def test_the_same_sums_of_the_same_documents_are_opened_again() -> None:
    ada, tables = Ada(), the_tables()
    first = ada.opens(tables, FIRST)
    np.testing.assert_array_equal(ada.opens(tables, FIRST), first)


def test_sums_over_other_words_of_the_same_documents_count_with_them() -> None:
    ada, tables = Ada(), the_tables()
    first = ada.opens(tables, FIRST)
    alone, after = Ada().opens(tables, SECOND), ada.opens(tables, SECOND)
    both = Ada().opens(tables)
    assert len(first) + len(after) <= len(both)
    assert len(after) < len(alone) * 0.8


def test_documents_that_no_earlier_training_had_are_counted_alone() -> None:
    """But they must hide one another: they are what the two trainings differ in."""
    ada, tables = Ada(), the_tables()
    ada.opens(tables, FIRST)
    other = {**tables, "ada": the_tables(120)["dee"]}
    names = [each.names for each in ada.memory.opened_words(b"")]
    assert len(names) == 1
    fresh = EarlierSums(ada.memory, b"", frozenset({b"a document"}), frozenset(), "")
    assert not fresh.opened_shares()
    assert len(ada.opens(other, SECOND)) > 0


def test_rados_are_drawn_anew_and_count_again() -> None:
    ada, tables = Ada(), the_tables(120)
    once = ada.opens(tables, FIRST, statistics="rados", rados=20)
    assert len(ada.opens(tables, FIRST, statistics="rados", rados=20)) < len(once)


def test_other_labels_of_the_same_documents_count_and_the_same_ones_do_not() -> None:
    """Each opens how many documents of a label use each word."""
    ada, tables, chance = Ada(), the_tables(), np.random.default_rng(7)
    numbers = []
    for at in range(8):
        for name, each in tables.items():
            new = np.where(chance.random(60) < 0.5, f"no {at}", f"yes {at}")
            tables[name] = replace(each, labels=tuple(new.tolist()))
        found = [len(ada.opens(tables, FIRST)) for _ in range(2)]
        assert found[0] == found[1]
        numbers.append(found[0])
    assert numbers == sorted(numbers, reverse=True)
    assert 0 < numbers[-1] < numbers[1]


@pytest.mark.parametrize("change", ["appended", "removed", "changed", "other words", "three"])
def test_what_a_peer_that_remembers_lets_be_opened_tells_no_long_document(change: str) -> None:
    """Of the trainings alone and of their differences."""
    ada, tables = Ada(), the_tables(120)
    more = the_tables(200)["dee"]

    def with_ada(*rows: NDArray[np.float64]) -> dict[str, Table]:
        given = np.vstack(rows)
        return {**tables, "ada": Table(given, tuple(["ham", "spam"] * (len(given) // 2)), WORDS)}

    own, new = tables["ada"].rows, more.rows
    steps = {
        "appended": [(with_ada(own), FIRST), (with_ada(own, new[:40]), FIRST)],
        "removed": [(with_ada(own, new[:40]), FIRST), (with_ada(own), FIRST)],
        "changed": [(with_ada(own), FIRST), (with_ada(new[:40], own[40:]), FIRST)],
        "other words": [(with_ada(own), FIRST), (with_ada(own), SECOND)],
        "three": [(with_ada(own, new[: 40 * at]), FIRST) for at in range(3)],
    }[change]
    names: dict[bytes, int] = {}
    every: list[NDArray[np.float64]] = []
    trainings: list[list[OpenedSums]] = []
    for given, words in steps:
        opened = ada.opens(given, words) + (words.start or 0)
        members = []
        for rows in (each.rows for each in given.values()):
            for row in rows:
                members.append(names.setdefault(row.tobytes(), len(names)))
                every += [row] if len(every) < len(names) else []
        x = np.array(every)[members]
        sums = OpenedSums.from_documents(
            f"training {len(trainings)}", x[:, opened], np.zeros(len(x), int)
        )
        words_of = tuple(WORDS[at] for at in opened)
        trainings.append([replace(sums, words=words_of, members=np.array(members))])
    columns = dict(zip(WORDS, np.array(every).T, strict=True))
    readings = audit_openings(trainings, columns, np.zeros(len(every), int), seconds=0.5)
    assert len(readings) == {"three": 7, "other words": 2}.get(change, 3)
    assert sum(each.read["6 or more"][1] for each in readings[:2]) > 200
    for each in readings:
        read, _, guessed, once = each.read["6 or more"]
        assert once <= guessed + 1, (each.opening, read)


@pytest.mark.parametrize("added", [6, 30])
def test_the_documents_that_changed_must_hide_one_another(added: int) -> None:
    """Thirty hide a few words, six none."""
    ada, tables = Ada(), the_tables()
    before = ada.opens(tables, FIRST)
    more = the_tables(added)["dee"]
    ada_more = Table(
        np.vstack([tables["ada"].rows, more.rows]),
        (*(tables["ada"].labels or ()), *(more.labels or ())),
        WORDS,
    )
    if added == 6:
        with pytest.raises(LeakError, match="of those that changed since an earlier training"):
            ada.opens({**tables, "ada": ada_more}, FIRST)
    else:
        after = ada.opens({**tables, "ada": ada_more}, FIRST)
        assert 0 < len(after) < len(before) * 0.7


def test_what_was_opened_is_kept_on_disk_and_sealed(tmp_path: Path) -> None:
    memory = PartyMemory(tmp_path / "memory.sqlite", bytes(32))
    earlier = EarlierSums(memory, b"one", frozenset({b"d"}), frozenset({b"d ham"}), "meant")
    earlier.note(("rose",), np.array([0.25]), 3)
    earlier.note(("other",), np.array([0.5]), 3)
    memory.close()
    again = PartyMemory(tmp_path / "memory.sqlite", bytes(32))
    later = replace(earlier, memory=again, session=b"two")
    assert later.opened_shares() == {"meant rose": 0.25}
    assert later.other_labels() == 0
    assert replace(later, labelled=frozenset({b"d spam"})).other_labels() == 3
    assert again.count == 1
    again.close()
    assert b"rose" not in (tmp_path / "memory.sqlite").read_bytes()

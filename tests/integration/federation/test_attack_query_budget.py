"""A peer wants more signs of a hidden classifier than its budget: two ways that used to work.

It had the classifier trained again on the same data, which gave a fresh budget; or it asked twice
at once, and both queries were counted on the same record. Now each helper counts in a memory of its
own, for every peer's data, before it answers.
"""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import HASHED, NAMES, made_holdings, made_peers, made_terms, made_texts

from sottovoce.errors import QueryBudgetError
from sottovoce.federation.party.memory import PartyMemory
from sottovoce.learn.documents import Documents
from sottovoce.learn.query_budget import QueryCharge
from sottovoce.learn.run.party import Finished, run_in_process
from sottovoce.learn.run.terms import Holdings

SECRET = bytes(range(32))
HELPERS = ("coordinator", "key holder")
RECIPE: dict[str, Any] = {
    "penalty": 0.1,
    "key_bits": BITS,
    "solver": "chebyshev",
    "fraction_bits": 12,
    "queries": 6,
    "queries_together": 20,
}


class Helpers:
    """The coordinator's and the key holder's memories, and the runs that they take part in."""

    def __init__(self) -> None:
        self.memories = {name: PartyMemory(None, SECRET) for name in HELPERS}

    def holdings(self, peers: Any, results: Any = None) -> dict[str, Holdings]:  # noqa: ANN401 - as there
        made = made_holdings(peers, results)
        return made | {n: replace(made[n], ledger=self.memories[n]) for n in HELPERS}

    def training(self, peers: Any) -> tuple[Any, Finished]:  # noqa: ANN401 - terms
        terms = made_terms("train", "hidden", text=HASHED, recipe=RECIPE, labels=("ham", "spam"))
        with small_keys_allowed():
            return terms, run_in_process(terms, self.holdings(peers))

    def query(self, trained: tuple[Any, Finished], asker: str, rows: int) -> Finished:
        terms, ended = trained
        asked = made_terms(
            "classify",
            "hidden",
            text=None,
            recipe=terms.recipe,
            training=terms.session,
            asker=asker,
            rows=rows,
        )
        holdings = self.holdings(made_peers(), ended.results)
        holdings[asker] = replace(
            holdings[asker], examples=Documents.from_texts(made_texts(rows, 5)[0])
        )
        with small_keys_allowed():
            return run_in_process(asked, holdings)


def test_neither_training_again_nor_asking_at_once_gives_a_fresh_budget() -> None:
    helpers, peers = Helpers(), made_peers(documents=30)
    first = helpers.training(peers)
    helpers.query(first, "ben", 5)
    with pytest.raises(QueryBudgetError, match="ben may have 1 more rows"):
        helpers.query(first, "ben", 2)  # as if both had begun at once: on the same record
    again = helpers.training(peers)
    with pytest.raises(QueryBudgetError, match="training again on the same data gives no new"):
        helpers.query(again, "ben", 2)
    own = Documents.from_texts(*made_texts(30, 77))
    with pytest.raises(QueryBudgetError, match="ben may have 1 more rows"):
        helpers.query(helpers.training({**peers, "ben": own}), "ben", 2)  # the others' are the same


def charge(query: int, asker: str = "ada", rows: int = 1, data: bytes = b"d") -> QueryCharge:
    return QueryCharge(query.to_bytes(4), (data,), asker, rows, each=10, together=15)


def test_queries_at_once_never_spend_more_than_the_budget() -> None:
    memory, refused = PartyMemory(None, SECRET), []

    def asking(thread: int) -> None:
        for at in range(5):
            try:
                memory.spend(charge(10 * thread + at, asker=NAMES[thread]))
            except QueryBudgetError:
                refused.append(thread)

    threads = [threading.Thread(target=asking, args=(at,)) for at in range(len(NAMES))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(refused) == 5 * len(NAMES) - 15


def test_a_query_is_counted_once_under_its_name_and_whole(tmp_path: Path) -> None:
    memory = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    for _ in range(3):
        memory.spend(charge(1, rows=8))
    memory.close()
    again = PartyMemory(tmp_path / "memory.sqlite", SECRET)
    with pytest.raises(QueryBudgetError, match="ada may have 2 more rows"):
        again.spend(charge(2, rows=3))
    both = charge(3, rows=2)._replace(data=(b"other", b"d"))
    again.spend(both)
    with pytest.raises(QueryBudgetError):
        again.spend(charge(4, rows=9)._replace(data=(b"other", b"d")))
    again.spend(charge(5, rows=8, data=b"other"))  # the refused one took nothing of the other's
    assert (tmp_path / "memory.sqlite").stat().st_mode & 0o077 == 0

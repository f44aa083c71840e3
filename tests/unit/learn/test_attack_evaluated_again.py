"""A peer adds one document and a training is evaluated again: the counts differ by that document.

Which label it has, and what the classifier calls it, stood in the difference of the two openings.
Now a peer remembers which documents each evaluation counted, and is not counted again on one to
four more, fewer or other ones.
"""

from dataclasses import replace

import numpy as np
import pytest
from support.openings import MemoryInProcess
from support.text_runs import HASHED, made_holdings, made_peers, made_terms, made_texts

from sottovoce.errors import LeakError
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.evaluate import JointEvaluation
from sottovoce.learn.run.party import Finished, run_in_process
from sottovoce.learn.run.terms import RunTerms

PEERS = made_peers(documents=20)
EXTRA = made_texts(5, 99)


def with_more(number: int) -> Documents:
    labels = PEERS["ada"].labels or ()
    return Documents.from_texts(
        (*PEERS["ada"].texts, *EXTRA[0][:number]), (*labels, *EXTRA[1][:number])
    )


class Ada:
    """Has a classifier of hers and the others', and remembers what it was tried on."""

    def __init__(self) -> None:
        self.memory = MemoryInProcess()
        self._terms = made_terms(text=HASHED, recipe={"penalty": 0.1}, labels=("ham", "spam"))
        self._ended = run_in_process(self._terms, made_holdings(PEERS))

    def evaluates(self, documents: Documents, terms: RunTerms | None = None) -> Finished:
        asked = terms or made_terms("evaluate", text=HASHED, training=self._terms.session)
        holdings = made_holdings({**PEERS, "ada": documents}, self._ended.results)
        holdings["ada"] = replace(holdings["ada"], memory=self.memory)
        return run_in_process(asked, holdings)


def counts(ended: Finished) -> int:
    return JointEvaluation.from_record(ended.results["coordinator"]).count


@pytest.mark.parametrize("more", [1, 4])
def test_an_evaluation_on_a_few_more_documents_is_refused(more: int) -> None:
    """Before, the difference of the counts was one, at its label and what it was called."""
    ada = Ada()
    ada.evaluates(PEERS["ada"])
    with pytest.raises(LeakError, match=f"at least 5, got {more} added"):
        ada.evaluates(with_more(more))


def test_an_evaluation_on_one_less_is_refused_though_all_are_spelt_anew() -> None:
    ada = Ada()
    first = counts(ada.evaluates(PEERS["ada"]))
    labels = PEERS["ada"].labels or ()
    anew = [f"{text.upper()} ." for text in PEERS["ada"].texts]
    with pytest.raises(LeakError, match="got 1 added, removed or changed"):
        ada.evaluates(Documents.from_texts(anew[:-1], labels[:-1]))
    assert counts(ada.evaluates(Documents.from_texts(anew, labels))) == first


def test_one_on_the_same_or_on_many_more_is_not() -> None:
    ada = Ada()
    first = counts(ada.evaluates(PEERS["ada"]))
    turned = PEERS["ada"].part(np.ones(20, bool))
    assert counts(ada.evaluates(turned)) == first
    assert counts(ada.evaluates(with_more(5))) == first + 5

"""An attack: a peer is restored from a backup, and masks two different vectors by the same pads.

What a party draws in a run is derived from a seed in its journal, so that it can go on after a
crash. A copy of the journal has the same seed. If the documents have changed since the copy was
made, a vector goes out that hides other numbers under the same pads, and whoever has both takes
their difference: the document that is gone. A party that crashes and
comes back to an edited file would do the same, of its own documents or, through a sum that does
not cancel, of another's.
"""

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pytest
from numpy.typing import NDArray
from support.hidden_systems import small_keys_allowed
from support.rehearsal import Crash, Rehearsal
from support.text_runs import HASHED, made_holdings, made_peers, made_terms

from sottovoce.federation._node import dispatcher, exchange
from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation.party.party import result_of
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Message, Party


class Overheard:
    """A party, and what it says."""

    def __init__(self, party: Party, said: list[Message]) -> None:
        self._inner, self._said = party, said

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def start(self) -> list[Message]:
        return self._noted(self._inner.start())

    def receive(self, message: Message) -> list[Message]:
        return self._noted(self._inner.receive(message))

    def time_out(self) -> list[Message]:
        return self._noted(self._inner.time_out())

    def _noted(self, messages: list[Message]) -> list[Message]:
        self._said += messages
        return messages


def masked_by_ada(terms: RunTerms, ada: Documents) -> list[Ring]:
    """Every masked vector that ada sends; each party's journal has the same seed every time."""
    said: list[Message] = []
    holdings = made_holdings({**made_peers(documents=12), "ada": ada})

    def make(known: bytes, name: str) -> Party:
        party = make_party(known, name, holdings[name])
        return Overheard(party, said) if name == "ada" else party  # type: ignore[return-value] # as it

    with pytest.MonkeyPatch.context() as patch:
        seeds = (bytes([number]) * 32 for number in count())
        for module in (exchange, dispatcher):
            patch.setattr(module, "system_bytes", lambda _count: next(seeds))
        rehearsal = Rehearsal(terms.parties, Machines(make, result_of))
        rehearsal.run(COORDINATOR, terms.to_bytes())
    return [each.array("vector", "<u8") for each in said if each.kind == "masked"]


def differences(change: Callable[[Documents], Documents]) -> list[NDArray[np.int64]]:
    terms = made_terms(text=HASHED, recipe={"penalty": 0.1})
    documents = made_peers(documents=12)["ada"]
    first = masked_by_ada(terms, documents)
    second = masked_by_ada(terms, change(documents))
    assert first
    assert len(first) == len(second)
    return [
        (one - other).view(np.int64)
        for one, other in zip(first, second, strict=True)
        if one.shape == other.shape
    ]


def without_the_first(documents: Documents) -> Documents:
    assert documents.labels is not None
    return Documents.from_texts(documents.texts[1:], documents.labels[1:])


def test_a_copy_with_the_same_documents_says_the_same_again() -> None:
    """Which tells nothing: that is how a restarted party goes on."""
    assert all((each == 0).all() for each in differences(lambda documents: documents))


def test_the_difference_to_a_copy_with_a_document_less_is_not_that_document() -> None:
    """Before, the first difference was the document: how often it used each word, 0 or 1."""
    for each in differences(without_the_first):
        assert np.abs(each).max() > 1 << 40
        assert len(set(each.tolist())) > each.size // 2


POINTS = (1, 3)


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


class EditedFile:
    """Makes parties; ada's documents are other ones from the second time on."""

    def __init__(self, second: Documents) -> None:
        self._holdings = made_holdings(made_peers(documents=12))
        self._second = made_holdings({**made_peers(documents=12), "ada": second})
        self.made = 0

    def __call__(self, terms: bytes, name: str) -> Party:
        self.made += name == "ada"
        again = name == "ada" and self.made > 1
        return make_party(terms, name, (self._second if again else self._holdings)[name])


def ends_after_a_crash(second: Documents, turn: int) -> set[bytes | str]:
    """How the run ends for everybody when ada comes back with these documents."""
    terms = made_terms(text=HASHED, recipe={"penalty": 0.1})
    maker = EditedFile(second)
    crashes = [Crash("ada", "before send", turn)]
    rehearsal = Rehearsal(terms.parties, Machines(maker, result_of), crashes=crashes)
    outcome = rehearsal.run(COORDINATOR, terms.to_bytes())
    assert maker.made == 2
    return {end if isinstance(end, str) else "finished" for end in outcome.ends.values()}


def with_another_label(documents: Documents) -> Documents:
    assert documents.labels is not None
    changed = "ham" if documents.labels[0] == "spam" else "spam"
    return Documents.from_texts(documents.texts, [changed, *documents.labels[1:]])


def in_another_order(documents: Documents) -> Documents:
    assert documents.labels is not None
    return Documents.from_texts(documents.texts[::-1], documents.labels[::-1])


@pytest.mark.parametrize("turn", POINTS)
def test_with_the_same_documents_the_run_goes_on(turn: int) -> None:
    assert ends_after_a_crash(made_peers(documents=12)["ada"], turn) == {"finished"}


@pytest.mark.parametrize("turn", POINTS)
@pytest.mark.parametrize("edit", [without_the_first, with_another_label, in_another_order])
def test_with_other_documents_it_is_ended_by_name_at_everybody(turn: int, edit: object) -> None:
    """Before, it went on to a classifier of both, and nobody noticed."""
    documents = made_peers(documents=12)["ada"]
    assert ends_after_a_crash(edit(documents), turn) == {"ReplayMismatchError"}  # type: ignore[operator] # one of ours

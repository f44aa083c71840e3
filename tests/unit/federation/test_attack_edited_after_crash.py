"""An attack on oneself: a party crashes within a run, its file is edited, and it starts again.

What it had said was about the old documents, and what it would say about the new ones. A difference
of the two is a document, of the peer's own or, through a sum that does not cancel, of another's.
"""

from collections.abc import Iterator

import pytest
from support.hidden_systems import small_keys_allowed
from support.rehearsal import Crash, Rehearsal
from support.text_runs import HASHED, made_holdings, made_peers, made_terms

from sottovoce.federation._node.dispatcher import Machines
from sottovoce.federation.party.party import result_of
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.party import make_party
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Party

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
    rehearsal = Rehearsal(
        terms.parties, Machines(maker, result_of), crashes=[Crash("ada", "before send", turn)]
    )
    outcome = rehearsal.run(COORDINATOR, terms.to_bytes())
    assert maker.made == 2
    return {end if isinstance(end, str) else "finished" for end in outcome.ends.values()}


def without_the_first(documents: Documents) -> Documents:
    assert documents.labels is not None
    return Documents.from_texts(documents.texts[1:], documents.labels[1:])


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

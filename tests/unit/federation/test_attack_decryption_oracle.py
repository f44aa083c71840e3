"""An attack: a lying coordinator has ciphertexts of one run opened in another.

The key holder opens what an intermediary calls rados. If it had one key for all its runs, a liar
would hand it a hidden training's ciphertexts as the rados of a run that it made up, and read what
nobody may see. So every run has a key of its own, of one purpose.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support.federations import JOURNAL_KEY, same_key
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import GIVEN, made_terms

from sottovoce.errors import InputError
from sottovoce.federation._journal import Journal
from sottovoce.federation.party.holdings import RADOS, SOLVE, RunKeys
from sottovoce.learn.paillier.wire import array_to_bytes, encrypt_integers
from sottovoce.learn.rados.intermediary import RadoReceiver, RadoTerms
from sottovoce.learn.run.terms import INTERMEDIARY, RunTerms
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.message import Message, new_session
from sottovoce.privacy.randomness import drawing_from, random_bytes

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


class JournalOnly:
    """As much of a node as keys need."""

    def __init__(self) -> None:
        self.journal = Journal(None, JOURNAL_KEY)

    def read_journal(self, reading: Callable[[Journal], Any]) -> Any:  # noqa: ANN401 - what is read
        return reading(self.journal)


def small(**given: Any) -> RunTerms:  # noqa: ANN401 - as made_terms takes them
    recipe = {"penalty": 0.1, "key_bits": BITS, **given.pop("recipe", {})}
    return made_terms(text=GIVEN, recipe=recipe, **given)


def hidden() -> RunTerms:
    return small(mode="hidden")


def rados() -> RunTerms:
    return small(kind="rados")


def test_a_ciphertext_of_a_hidden_training_is_not_opened_as_rados_of_another_run() -> None:
    """Before, both runs were under one key, and the key holder opened it and told it."""
    keys = RunKeys(JournalOnly(), None)
    victim = keys.of_run(hidden(), KEY_HOLDER)[SOLVE]
    oracle = keys.of_run(rados(), KEY_HOLDER)[RADOS]
    terms = RadoTerms(new_session(), "ada", INTERMEDIARY, KEY_HOLDER, 3, 2, 2, 1.0)
    secret = encrypt_integers(np.array([[3, 1, 4]] * 2), terms.plan(BITS), victim)
    holder = RadoReceiver(terms, oracle)
    holder.start()
    payload: dict[str, Value] = {"doubled": array_to_bytes(secret)}
    with pytest.raises(InputError, match="under another key"):
        holder.receive(Message(terms.session, INTERMEDIARY, KEY_HOLDER, 3, "rados", payload))


def test_every_run_and_every_purpose_has_a_key_of_its_own() -> None:
    node = JournalOnly()
    keys = RunKeys(node, same_key(1))
    found = [
        key.public.fingerprint
        for terms in (rados(), rados(), hidden(), hidden(), small())
        for key in keys.of_run(terms, KEY_HOLDER).values()
    ]
    found += [keys.of_run(hidden(), COORDINATOR)[SOLVE].public.fingerprint]
    assert len(set(found)) == len(found) == 5
    assert keys.of_run(small(), COORDINATOR) == {}


def test_a_restarted_helper_goes_on_with_the_key_of_its_run_and_draws_nothing_for_it() -> None:
    node, terms = JournalOnly(), rados()
    seed = bytes(range(32))
    with drawing_from(seed):
        before = RunKeys(node, None).of_run(terms, KEY_HOLDER)[RADOS]
        drawn = random_bytes(8)
    with drawing_from(seed):
        after = RunKeys(node, None).of_run(terms, KEY_HOLDER)[RADOS]
        assert random_bytes(8) == drawn
    assert before.public == after.public


def test_the_key_of_a_run_goes_with_it_and_only_a_hidden_classifiers_stays() -> None:
    node = JournalOnly()
    keys = RunKeys(node, None)
    done, broken, mixed = hidden(), hidden(), rados()
    for terms in (done, broken, mixed):
        keys.of_run(terms, KEY_HOLDER)
    keys.forget({done.session: "finished", broken.session: "aborted", mixed.session: "finished"})
    usable = [(key.session, key.purpose) for key in node.journal.run_keys() if key.usable]
    assert usable == [(done.session, SOLVE)]
    query = small(kind="classify", mode="hidden", training=done.session, asker="ada", rows=1)
    assert list(keys.of_run(query, KEY_HOLDER)) == [SOLVE]
    late = small(kind="classify", mode="hidden", training=broken.session, asker="ada", rows=1)
    with pytest.raises(InputError, match="the key of that training is gone"):
        keys.of_run(late, KEY_HOLDER)


def test_the_key_of_the_folder_serves_one_run_and_older_classifiers() -> None:
    node, first = JournalOnly(), same_key(1)
    keys = RunKeys(node, first)
    old = small(kind="classify", mode="hidden", training=bytes(16), asker="ada", rows=1)
    assert keys.of_run(old, KEY_HOLDER)[SOLVE].public == first.public
    assert keys.of_run(hidden(), KEY_HOLDER)[SOLVE].public == first.public
    assert keys.of_run(hidden(), KEY_HOLDER)[SOLVE].public != first.public

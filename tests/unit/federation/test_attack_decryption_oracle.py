"""An attack: a lying coordinator has ciphertexts of one run opened in another.

The key holder opens what a packed training calls a sum. If it had one key for all its runs, the
coordinator would hand it a hidden training's ciphertexts as the sum of a training that it made up,
and read what nobody may see. So every run has a key of its own, and every purpose within a run.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support.federations import JOURNAL_KEY, same_key
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import GIVEN, made_holdings, made_peers, made_terms

from sottovoce.errors import InputError
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation.party._run_keys import RADOS, SOLVE, SUMS, RunKeys, purposes
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.paillier.wire import array_to_bytes, encrypt_integers
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.fixed import FixedPoint
from sottovoce.learn.sums.packed import ADDED, PackedKeyHolder, PackedSum
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Message
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


def hidden(way: str = "masks") -> RunTerms:
    return small(mode="hidden", recipe={"way": way})


def packed() -> RunTerms:
    return small(recipe={"way": "packed"})


def test_a_ciphertext_of_a_hidden_training_is_not_opened_as_a_sum_of_another() -> None:
    """Before, both runs were under one key, and the key holder opened it and told it."""
    keys = RunKeys(JournalOnly(), None)
    victim = keys.of_run(hidden(), KEY_HOLDER)[SOLVE]
    oracle = keys.of_run(packed(), KEY_HOLDER)[SUMS]
    peers = ["ada", "ben", "cy"]
    terms = PackedSum(bytes(16), COORDINATOR, KEY_HOLDER, peers, 3, FixedPoint(1.0, 3))
    secret = encrypt_integers(np.array([3, 1, 4]), terms.plan(BITS), victim)
    holder = PackedKeyHolder(terms, oracle)
    holder.start()
    payload: dict[str, Value] = {"array": array_to_bytes(secret), "names": tuple(peers)}
    with pytest.raises(InputError, match="under another key"):
        holder.receive(Message(bytes(16), COORDINATOR, KEY_HOLDER, ADDED, "added", payload))


def test_every_run_and_every_purpose_has_a_key_of_its_own() -> None:
    node = JournalOnly()
    keys = RunKeys(node, same_key(1))
    found = [
        key.public.fingerprint
        for terms in (packed(), packed(), hidden(), hidden("packed"), small(kind="rados"))
        for key in keys.of_run(terms, KEY_HOLDER).values()
    ]
    found += [keys.of_run(hidden(), COORDINATOR)[SOLVE].public.fingerprint]
    assert len(set(found)) == len(found) == 7
    assert keys.of_run(packed(), COORDINATOR) == {}


@pytest.mark.parametrize(
    ("terms", "name", "wanted"),
    [
        (packed(), KEY_HOLDER, (SUMS,)),
        (packed(), "ada", ()),
        (hidden("packed"), KEY_HOLDER, (SOLVE, SUMS)),
        (hidden(), COORDINATOR, (SOLVE,)),
        (small(kind="rados"), KEY_HOLDER, (RADOS,)),
    ],
)
def test_keys_are_made_for_what_a_party_does(
    terms: RunTerms, name: str, wanted: tuple[str, ...]
) -> None:
    assert purposes(terms, name) == wanted


def test_a_hidden_training_opens_its_sums_under_another_key_than_its_solve() -> None:
    terms = made_terms(
        mode="hidden",
        text=TextRecipe(dictionary="hashed", width=3),
        recipe={"penalty": 0.1, "key_bits": BITS, "way": "packed", "fraction_bits": 8},
    )
    holdings = made_holdings(made_peers(documents=12))
    keys = RunKeys(JournalOnly(), None).of_run(terms, KEY_HOLDER)
    holdings[KEY_HOLDER] = Holdings(key=keys[SOLVE], sums_key=keys[SUMS])
    parties = [make_party(terms, name, holdings[name]) for name in terms.parties]
    exchange = Exchange(parties)
    exchange.run()
    told = [m.item("key", str) for m in exchange.views["ada"] if m.kind == "key"]
    solve, sums = (f"{int(keys[each].public.n):x}" for each in (SOLVE, SUMS))
    assert [sums in text for text in told] == [True, True, False]
    assert [solve in text for text in told] == [False, False, True]


def test_a_restarted_helper_goes_on_with_the_key_of_its_run_and_draws_nothing_for_it() -> None:
    node, terms = JournalOnly(), packed()
    seed = bytes(range(32))
    with drawing_from(seed):
        before = RunKeys(node, None).of_run(terms, KEY_HOLDER)[SUMS]
        drawn = random_bytes(8)
    with drawing_from(seed):
        after = RunKeys(node, None).of_run(terms, KEY_HOLDER)[SUMS]
        assert random_bytes(8) == drawn
    assert before.public == after.public


def test_the_key_of_a_run_goes_with_it_and_only_a_hidden_classifiers_stays() -> None:
    node = JournalOnly()
    keys = RunKeys(node, None)
    done, broken, sums = hidden("packed"), hidden(), packed()
    for terms in (done, broken, sums):
        keys.of_run(terms, KEY_HOLDER)
    keys.forget({done.session: "finished", broken.session: "aborted", sums.session: "finished"})
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

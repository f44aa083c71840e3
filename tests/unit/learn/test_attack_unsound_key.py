"""An attack: the key holder hands out a modulus of many primes, and reads secret scalars with it.

A peer multiplies ciphertexts that came from the owner of the key by its secret numbers, blinds the
result and sends it back. With n = s_1 ... s_16 P the owner gives its j-th ciphertext a quadratic
character of -1 modulo s_j alone. Blinding by short powers of h = -x^2 leaves that character as it
is, since -1 is a square modulo s_j = 1 mod 4; so the character of what comes back modulo s_j is the
parity of the j-th secret number.
"""

from collections.abc import Callable
from functools import cache
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import gmpy2
import numpy as np
import pytest
from support.chance import drawn_once
from support.federations import same_key
from support.hidden_systems import small_keys_allowed
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import InputError
from sottovoce.learn.modes.comparison import ComparisonPlan, answer_less, ask_less
from sottovoce.learn.modes.hidden_solve import share_slots, told_agreed_key
from sottovoce.learn.modes.queries import masked_scores
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.blinding import PublicBlinding
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.key_files import (
    ROOT_ROUNDS,
    _check_proven,
    _root_challenges,
    _square_challenges,
    proven_key_to_text,
    public_key_from_text,
    public_key_to_text,
)
from sottovoce.learn.paillier.keys import PublicKey, check_ciphertexts
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import array_from_bytes, encrypt_integers
from sottovoce.learn.rados.intermediary import RadoIntermediary, RadoOwner, RadoTerms
from sottovoce.learn.solve.masked import read_masked
from sottovoce.learn.solve.plan import PublicBounds, SolvePlan
from sottovoce.learn.training_terms import Recipe
from sottovoce.learn.wire.message import Message, new_session
from sottovoce.learn.wire.stages import run_together

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

BITS = 2048
SECRET = np.random.default_rng(5).integers(-9, 10, 16)


@drawn_once
def primes() -> tuple[int, ...]:
    """Sixteen primes of 17 bits, 1 mod 4, and a large one, with gcd(n, phi(n)) = 1."""
    small: list[int] = []
    candidate = 1 << 16
    while len(small) < 16:
        candidate = int(gmpy2.next_prime(candidate))
        if candidate % 4 == 1 and all((candidate - 1) % other for other in small):
            small.append(candidate)
    large = (1 << BITS) // prod(small) - (1 << 1000)
    while True:
        large = int(gmpy2.next_prime(large))
        if large % 4 == 1 and all((large - 1) % each for each in small):
            return (*small, large)


@cache
def key() -> PublicKey:
    """What the key holder hands out; it has no flaw that is seen from outside."""
    return PublicKey(prod(primes()))


def marked_ciphertexts() -> EncryptedArray:
    """Encryptions of zero, the j-th of character -1 modulo the j-th small prime and the large."""
    *small, large = primes()
    n = int(key().n)
    units = []
    for own in small:
        residues = [gmpy2.mpz(4)] * len(small)
        residues[small.index(own)] = _non_square(own)
        units.append(_chinese([*residues, _non_square(large)], [*small, large]))
    ciphers = [gmpy2.powmod(unit, n, key().n_squared) for unit in units]
    check_ciphertexts(ciphers, key().n)
    plan = plan_slots(Program.of_bits(8).scale(1 << 10).add_up(32), key_bits=BITS, packed=False)
    return EncryptedArray(key(), plan, as_grid(ciphers, (16,)), 16, 1, 0)


def read_parities(answer: EncryptedArray) -> list[int]:
    """What the key holder makes of a ciphertext that came back."""
    cipher = int(answer.ciphertexts.ravel()[0])
    return [int(gmpy2.jacobi(cipher % each, each) == -1) for each in primes()[:-1]]


def _non_square(prime: int) -> int:
    return next(each for each in range(2, prime) if gmpy2.jacobi(each, prime) == -1)


def _chinese(residues: list[int], moduli: list[int]) -> int:
    n = prod(moduli)
    parts = (
        r * (n // m) * int(gmpy2.invert(n // m, m)) for r, m in zip(residues, moduli, strict=True)
    )
    return int(sum(parts)) % n


def test_with_such_a_key_short_blinding_shows_every_parity() -> None:
    """The attack itself: this is why nobody may encrypt under a key without a proof."""
    answer = marked_ciphertexts().combine(SECRET[None, :]).blind()
    assert read_parities(answer) == [int(each) % 2 for each in SECRET]


def test_full_blinding_shows_nothing_even_then() -> None:
    """What goes back to the owner of a key is blinded in full: scores and comparisons are."""
    marked = marked_ciphertexts()
    right = [
        read_parities(marked.combine(SECRET[None, :]).blind(full=True))
        == [int(each) % 2 for each in SECRET]
        for _ in range(8)
    ]
    assert not all(right)
    assert sum(right) <= 1  # by luck, with a chance of 2^-16 each


@drawn_once
def best_proof() -> tuple[int, ...]:
    """What the owner can show: all n-th roots, and the square roots that there are."""
    phi, n = prod(each - 1 for each in primes()), int(key().n)
    exponent = gmpy2.invert(n, phi)
    roots = [int(gmpy2.powmod(each, exponent, n)) for each in _root_challenges(n)]
    return (*roots, *(_best_root(each, n) for each in _square_challenges(n)))


def _best_root(number: int, n: int) -> int:
    for square in (number, n - number):
        if all(gmpy2.jacobi(square, each) == 1 for each in primes()):
            raise AssertionError("so many characters cannot all be 1 by luck")
    return 1


def test_its_owner_cannot_prove_it() -> None:
    proof = best_proof()
    n = key().n
    assert all(
        gmpy2.powmod(root, n, n) == each
        for root, each in zip(proof[:ROOT_ROUNDS], _root_challenges(n), strict=True)
    )
    with pytest.raises(InputError, match="proof of a public key does not hold"):
        public_key_from_text(public_key_to_text(key(), proof), needs_proof=True)


def _message(session: bytes, sender: str, receiver: str, text: str, kind: str = "key") -> Message:
    return Message(session, sender, receiver, 1, kind, {"key": text})


def _hidden(text: str) -> object:
    recipe = Recipe(key_bits=BITS)
    return told_agreed_key(_message(new_session(), "key holder", "ada", text), recipe, {})


def _solve(text: str) -> object:
    plan = SolvePlan(PublicBounds(2, 4, 100, 200, 100), BITS, primes=2, prime_bits=96)
    payload: dict[str, Value] = {"key": text, "primes": (), "masked": b"", "columns": b""}
    asked = Message(new_session(), "coordinator", "key holder", 1, "masked", payload)
    return read_masked(asked, plan, insecure_key_for_tests(256).public, 2, set())


def _rado_owner(text: str) -> object:
    terms = RadoTerms(new_session(), "ada", "i", "k", 2, 2, 3, 1.0)
    owner = RadoOwner(terms, np.ones((2, 2)), np.array([1.0, -1.0]))
    owner.start()
    return owner.receive(_message(terms.session, "k", "ada", text))


def _rado_intermediary(text: str) -> object:
    terms = RadoTerms(new_session(), "ada", "i", "k", 2, 2, 3, 1.0)
    party = RadoIntermediary(terms)
    party.start()
    return party.receive(_message(terms.session, "k", "i", text))


@pytest.mark.parametrize("handed_to", [_hidden, _solve, _rado_owner, _rado_intermediary])
def test_nobody_takes_a_key_without_its_proof(handed_to: Callable[[str], object]) -> None:
    """The same text, without a proof or with the best there is, was taken by every protocol."""
    with pytest.raises(InputError, match="must come with its owner's proof"):
        handed_to(public_key_to_text(key()))
    with pytest.raises(InputError, match="does not hold"):
        handed_to(public_key_to_text(key(), best_proof()))


def test_a_proof_is_checked_once_and_remembered() -> None:
    """Else every message of a training would take a tenth of a second more."""
    with small_keys_allowed():
        text = proven_key_to_text(same_key(1))
        _check_proven.cache_clear()
        found = [public_key_from_text(text, needs_proof=True) for _ in range(3)]
    assert {each.fingerprint for each in found} == {same_key(1).public.fingerprint}
    assert _check_proven.cache_info().misses == 1
    known: dict[int, PublicKey] = {int(found[0].n): found[0]}
    bare = public_key_to_text(found[0])
    assert public_key_from_text(bare, needs_proof=True, known=known) is found[0]


@pytest.fixture
def full_factors(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ciphertexts were blinded in full, each time."""
    counts: list[int] = []
    real = PublicBlinding.full_factors

    def counted(self: PublicBlinding, count: int) -> list[int]:
        counts.append(count)
        return real(self, count)

    monkeypatch.setattr(PublicBlinding, "full_factors", counted)
    return counts


def test_a_comparison_goes_back_to_the_key_holder_blinded_in_full(full_factors: list[int]) -> None:
    plan = ComparisonPlan(count=3, bits=4)
    mine, theirs = as_grid([3, 9, 14], (3,)), as_grid([5, 9, 2], (3,))
    key = same_key(1)
    done = run_together(ask_less(mine, plan, key.public), answer_less(theirs, plan, key))
    assert (done.asked ^ done.answered).tolist() == [0, 0, 1]
    said = done.shown[-1].item("array", bytes)
    sent = array_from_bytes(said, key.public, plan=plan.zeros.slots(key.public.bits))
    assert full_factors == [sent.ciphertexts.size]


def test_scores_go_back_to_the_keys_owners_blinded_in_full(full_factors: list[int]) -> None:
    modulus, key = (1 << 40) - 87, same_key(1)
    slots = share_slots(modulus, key.public.bits, 3)
    share = encrypt_integers(as_grid([5, 7], (2,)), slots, key)
    classifier: Any = SimpleNamespace(modulus=modulus, coordinator=share, key_holder=share)
    masked_scores(classifier, as_grid([1, 2, 3, 4], (2, 2)))
    assert full_factors == [2, 2]

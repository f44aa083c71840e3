"""Keys are sound, refused when they are not, and never shown."""

import pickle
from math import gcd

import pytest
from support.chance import drawn_once
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import InputError, ParameterError, SottovoceError
from sottovoce.learn.paillier import keys
from sottovoce.learn.paillier import keys as validation
from sottovoce.learn.paillier.grid import gmpy2
from sottovoce.learn.paillier.key_files import check_key_proof, prove_key
from sottovoce.learn.paillier.keys import DEFAULT_BITS, PrivateKey, PublicKey, generate_key
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import decrypt, encrypt
from sottovoce.privacy.randomness import random_bits


@pytest.fixture(scope="module")
def private() -> PrivateKey:
    return generate_key(2048)


def prime_like(bits: int, *, residue: int = 3) -> int:
    found = keys.random_prime(bits)
    while found % 4 != residue:
        found = int(gmpy2.next_prime(found))
    return found


def test_a_new_key_has_the_primes_that_the_scheme_needs(private: PrivateKey) -> None:
    p, q = int(private.secret.p), int(private.secret.q)
    assert private.public.bits == 2048
    assert p.bit_length() == q.bit_length() == 1024
    assert p % 4 == q % 4 == 3
    assert gcd(p - 1, q - 1) == 2
    assert gmpy2.is_prime(p)
    assert gmpy2.is_prime(q)
    assert abs(p - q) > 1 << 924
    assert not keys.has_small_factor((p - 1) // 2)
    assert not keys.has_small_factor((q - 1) // 2)


def test_3072_bits_are_the_default() -> None:
    assert DEFAULT_BITS == 3072
    assert generate_key.__defaults__ == (3072,)


@pytest.mark.parametrize("bits", [512, 1024, 2046, 2047, 2049, 1 << 20])
def test_a_key_of_an_unfit_length_is_refused(bits: int) -> None:
    with pytest.raises(ParameterError, match=f"got {bits}"):
        generate_key(bits)


@drawn_once
def modulus_cases() -> dict[str, tuple[int, str]]:
    p, q = keys.random_primes(2048)
    half = keys.random_prime(1024)
    # Just above three quarters of 2^683, whose cube has 2048 bits.
    root = int(gmpy2.next_prime((3 << 681) + random_bits(600)))
    # 1 mod 4, and 21 times it has 2048 bits.
    cofactor = (3 << 2042) + 4 * random_bits(2000) + 1
    after = int(gmpy2.next_prime(p))
    while after % 4 != 3:
        after = int(gmpy2.next_prime(after))
    return {
        "too small": (insecure_key_for_tests(1024).public.n, "2048 to 16384 bits, got 1024"),
        "negative": (-p * q, "must be positive"),
        "zero": (0, "must be positive"),
        "even": (p * q + 1, "must be odd"),
        "3 mod 4": (p * q + 2, "1 mod 4"),
        "small factor": (21 * cofactor, "no small factor"),
        "square": (half * half, "must not be a power"),
        "cube": (_cube(root), "must not be a power"),
        "prime": (prime_like(2048, residue=1), "got a prime"),
        "close primes": (p * after, "far apart"),
    }


def _cube(root: int) -> int:
    while root**3 % 4 != 1:
        root = int(gmpy2.next_prime(root))
    return root**3


def test_a_foreign_modulus_that_is_visibly_unfit_is_refused() -> None:
    for modulus, words in modulus_cases().values():
        with pytest.raises(InputError, match=words) as refusal:
            PublicKey(modulus)
        assert_shows_no(str(refusal.value), int(modulus))


def composite_beside(p: int) -> int:
    """A number that is right for ``p`` in all but being prime."""
    while True:
        found = keys.random_prime(512) * prime_like(512, residue=1)
        whole = found.bit_length() == 1024 and (p * found).bit_length() == 2048
        if whole and keys.are_apart(p, found):
            return found


@drawn_once
def prime_cases() -> dict[str, tuple[int, int, str]]:
    p = keys.random_prime(1024)
    short = keys.random_prime(1020)
    one = prime_like(1024, residue=1)
    composite = composite_beside(p)
    return {
        "equal": (p, p, "far apart"),
        "different lengths": (p, short, "equally many bits"),
        "1 mod 4": (p, one, "3 mod 4"),
        "composite": (p, composite, "got a composite"),
        "too small": (*keys.random_primes(1024), "got 1024"),
    }


def test_numbers_that_are_no_primes_of_a_key_are_refused() -> None:
    for p, q, words in prime_cases().values():
        with pytest.raises(InputError, match=words) as refusal:
            PrivateKey(p, q)
        assert_shows_no(str(refusal.value), p, q)


def assert_shows_no(text: str, *numbers: int) -> None:
    for number in map(abs, numbers):
        if number > 1 << 64:
            assert str(number)[:12] not in text
            assert f"{number:x}"[:12] not in text


def test_what_is_shown_of_a_key_is_its_length_and_fingerprint(private: PrivateKey) -> None:
    shown = repr(private) + str(private) + repr(private.secret) + repr(private.public)
    assert private.public.fingerprint in shown
    assert_shows_no(shown, private.secret.p, private.secret.q)


def test_a_key_is_not_pickled(private: PrivateKey) -> None:
    for key in (private, private.public):
        with pytest.raises(SottovoceError, match="not pickled"):
            pickle.dumps(key)


def test_a_closed_key_decrypts_nothing() -> None:
    private = insecure_key_for_tests(256, 7)
    plan = plan_slots(Program.of_bits(8), key_bits=256)
    with private as opened:
        array = encrypt([1, 2], plan, opened)
        assert decrypt(array, opened).tolist() == [1, 2]
    with pytest.raises(InputError, match="was closed"):
        decrypt(array, private)
    with pytest.raises(InputError, match="was closed"):
        encrypt([1, 2], plan, private)
    assert "closed" in repr(private)
    assert private._secret is None


def test_the_base_of_blinding_follows_from_the_modulus_alone() -> None:
    public = insecure_key_for_tests(512).public
    n = int(public.n)
    root = keys.blinding_root(n)
    assert keys.blinding_root(n) == root
    assert gmpy2.jacobi(root, n) == 1
    assert public.base == pow(root, n, n * n)
    other = insecure_key_for_tests(512, 1).public
    assert keys.blinding_root(int(other.n)) != root


def test_minus_the_root_is_a_square() -> None:
    """So that the root is no square modulo either prime, and generates both halves."""
    private = insecure_key_for_tests(512)
    root = keys.blinding_root(int(private.public.n))
    for prime in (private.secret.p, private.secret.q):
        assert gmpy2.legendre(-root, prime) == 1
        assert gmpy2.legendre(root, prime) == -1


def test_the_owners_proof_of_a_key_holds_and_another_keys_does_not(private: PrivateKey) -> None:
    proof = prove_key(private)
    check_key_proof(private.public, proof)
    other = generate_key(2048)
    for wrong in (prove_key(other), proof[1:], (), (0, *proof[1:]), proof[::-1]):
        with pytest.raises(InputError, match="does not hold"):
            check_key_proof(private.public, wrong)


def test_no_proof_is_found_where_blinding_does_not_permute() -> None:
    """With q = 1 mod p, n-th powers are p to one: most challenges have no root."""
    p = keys.random_prime(128)
    q = 2 * p + 1
    while not gmpy2.is_prime(q):
        q += 2 * p
    public = PublicKey._trust(p * q)
    phi = (p - 1) * (q - 1)
    from sottovoce.learn.paillier.key_files import _root_challenges  # noqa: PLC0415 - only here

    rootless = [c for c in _root_challenges(public.n) if pow(c, phi // p, p * q) != 1]
    assert len(rootless) == 8


@pytest.mark.parametrize("steps", [1, 900])
def test_close_primes_are_found_within_the_steps_claimed(steps: int) -> None:
    middle = 1 << 200
    spread = int(gmpy2.isqrt(2 * middle * steps)) - 1
    assert validation._has_close_factors(gmpy2.mpz((middle - spread) * (middle + spread)))
    assert not validation._has_close_factors(gmpy2.mpz((middle - (1 << 150)) * (middle + 1)))

"""Arrays under encryption behave like numpy's, in slots that no sum of a plan overflows."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from phe import paillier as phe
from support.paillier_keys import insecure_key_for_tests, insecure_key_of_primes

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray, concatenate
from sottovoce.learn.paillier.grid import cores, gmpy2
from sottovoce.learn.paillier.slots import Program, SlotPlan, mask_bound, plan_slots
from sottovoce.learn.paillier.wire import decrypt, decrypt_integers, encrypt, encrypt_integers

KEY = insecure_key_for_tests(256)
PACKED = plan_slots(Program.start(8, 8), key_bits=256, slot_bits=36)
UNPACKED = plan_slots(Program.start(8, 8), key_bits=256, slot_bits=60, packed=False)
Refusals = list[Callable[[], object]]
VALUES = (np.arange(45) % 31 / 4 - 3).reshape(3, 15)


def opened(array: EncryptedArray) -> NDArray[np.float64]:
    return decrypt(array, KEY)


@pytest.fixture(params=["owner", "public"])
def packed(request: pytest.FixtureRequest) -> EncryptedArray:
    return encrypt(VALUES, PACKED, KEY if request.param == "owner" else KEY.public)


@pytest.fixture
def free() -> EncryptedArray:
    return encrypt(VALUES, UNPACKED, KEY)


def test_what_was_encrypted_is_decrypted(packed: EncryptedArray, free: EncryptedArray) -> None:
    assert PACKED.slots == 7
    assert packed.ciphertexts.shape == (3, 3)
    assert packed.shape == free.shape == (3, 15)
    assert (opened(packed) == VALUES).all()
    assert (opened(free) == VALUES).all()


def test_sums_differences_and_products_with_plain_numbers(packed: EncryptedArray) -> None:
    row = VALUES[::-1].copy()
    assert (opened(packed + row) == VALUES + row).all()
    assert (opened(row + packed) == VALUES + row).all()
    assert (opened(packed - row) == VALUES - row).all()
    assert (opened(row - packed) == row - VALUES).all()
    assert (opened(packed + 1.5) == VALUES + 1.5).all()
    assert (opened(packed + row[0]) == VALUES + row[0]).all()
    assert (opened(-packed) == -VALUES).all()
    assert (opened(packed * -3) == VALUES * -3).all()
    assert (opened(np.array([[2], [0], [-5]]) * packed) == VALUES * [[2], [0], [-5]]).all()
    assert (opened(packed - np.arange(15, dtype=np.uint8)) == VALUES - np.arange(15)).all()


def test_matrix_products_open_to_those_of_plain_numbers(
    packed: EncryptedArray, free: EncryptedArray
) -> None:
    matrix = np.array([[1, -2, 3], [0, 0, 0], [-7, 100, 1], [0, 1, 0]])
    for array in (packed, free):
        assert (opened(array.combine(matrix)) == matrix @ VALUES).all()
        assert (opened(array.combine(matrix[0])) == matrix[0] @ VALUES).all()
    right = (np.arange(30) - 15).reshape(15, 2)
    assert (opened(free.combine(right, axis=1)) == VALUES @ right).all()
    halves = packed.combine(matrix / 2, fraction_bits=1)
    assert (opened(halves) == matrix @ VALUES / 2).all()
    with pytest.raises(ParameterError, match="do not fit a matrix product"):
        packed.combine(matrix.T)
    with pytest.raises(ParameterError, match="needs an axis that is not packed"):
        packed[0].combine(matrix)


@pytest.mark.parametrize("full", [False, True])
def test_blinded_ciphertexts_differ_and_decrypt_alike(
    packed: EncryptedArray, *, full: bool
) -> None:
    computed = packed * 2
    blinded = computed.blind(full=full)
    assert not computed.blinded
    assert blinded.blinded
    assert not set(computed.ciphertexts.ravel()) & set(blinded.ciphertexts.ravel())
    assert (opened(blinded) == opened(computed)).all()


def test_honest_ciphertexts_have_jacobi_symbol_1() -> None:
    """Else blinding with powers of one base would not hide the parity of a scalar."""
    for key in (KEY, KEY.public):
        grid = encrypt(np.ones((50, 1)), PACKED, key).ciphertexts
        assert {gmpy2.jacobi(each % KEY.public.n, KEY.public.n) for each in grid.ravel()} == {1}


def test_the_bound_is_exact_and_an_overflow_is_refused_before_it_happens() -> None:
    plan = plan_slots(Program.of_bits(4), key_bits=256, slot_bits=8)
    largest = encrypt_integers([15, -15, 0], plan, KEY)
    assert plan.capacity == 127
    assert decrypt_integers(largest * 8, KEY).tolist() == [120, -120, 0]
    assert (largest * 8).bound == 120
    assert decrypt_integers((largest * 8).plus_integers([7, -7, 0]), KEY).tolist() == [127, -127, 0]
    stacked = concatenate([encrypt_integers([[15, -15]], plan, KEY)] * 9)
    refusals: Refusals = [
        lambda: largest * 9,
        lambda: (largest * 8).plus_integers([8, 0, 0]),
        lambda: (largest * 4) + (largest * 5),
        lambda: (largest * 4) - (largest * 5),
        lambda: stacked.sum(0),
        lambda: stacked.combine(np.ones((1, 9), dtype=int)),
        lambda: largest.widen(128),
    ]
    for refused in refusals:
        with pytest.raises(ParameterError, match="need slots of 9 bits, and they have 8"):
            refused()
    with pytest.raises(ParameterError, match="never narrowed"):
        largest.widen(14)


@pytest.mark.parametrize("value", [8.01, -9, 1e300, 10**40])
def test_what_is_too_large_for_its_slot_is_refused_and_not_told(value: float) -> None:
    with pytest.raises(InputError, match="too large for their slots") as refusal:
        encrypt(np.array([value], dtype=object if value == 10**40 else None), PACKED, KEY)
    assert str(value)[:6] not in str(refusal.value)


def test_arrays_of_two_keys_do_not_mix() -> None:
    other = insecure_key_for_tests(256, 1)
    mine, theirs = encrypt(VALUES, PACKED, KEY), encrypt(VALUES, PACKED, other)
    with pytest.raises(InputError, match="under two keys"):
        mine + theirs
    with pytest.raises(InputError, match="under two keys"):
        concatenate([mine, theirs])
    with pytest.raises(InputError, match="under another key"):
        decrypt(theirs, KEY)
    with pytest.raises(ParameterError, match="for a key of 512 bits"):
        encrypt(VALUES, plan_slots(Program.start(8, 8), key_bits=512), KEY)


def test_a_sender_who_broke_the_plan_is_found_out_on_decryption() -> None:
    small = SlotPlan(256, 8, 3, Program.of_bits(4))
    wide = SlotPlan(256, 8, 4, Program.of_bits(4))
    honest = encrypt_integers([1, 2, 3, 4], wide, KEY)
    lying = EncryptedArray(KEY.public, small, honest.ciphertexts, 3, 15, 0)
    with pytest.raises(InputError, match="outside its slots"):
        decrypt_integers(lying, KEY)
    understated = EncryptedArray(KEY.public, wide, honest.ciphertexts, 4, 3, 0)
    with pytest.raises(InputError, match="exceed the array's bound"):
        decrypt_integers(understated, KEY)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_number_of_cores_changes_nothing(count: int) -> None:
    values = np.arange(400.0).reshape(40, 10) % 8
    with cores(count):
        array = encrypt(values, PACKED, KEY)
        assert (opened(array + array) == 2 * values).all()
        assert (opened(array.combine(np.ones((30, 40), int))) == np.ones((30, 40)) @ values).all()
        assert (opened(array * -2) == -2 * values).all()
        assert (opened(array.sum(0)) == values.sum(0)).all()


@pytest.mark.parametrize("bits", [62, 63, 64, 65, 90])
def test_scalars_and_scales_may_be_longer_than_a_machine_word(bits: int) -> None:
    plan = plan_slots(Program.start(8, 0), key_bits=256, slot_bits=120, packed=False)
    array = encrypt(np.array([3.0, -5.0]), plan, KEY)
    for factor in (2**bits, -(2**bits) - 1):
        assert decrypt_integers(array * factor, KEY).tolist() == [3 * factor, -5 * factor]
    assert decrypt_integers(array + 2**bits, KEY).tolist() == [3 + 2**bits, 2**bits - 5]
    assert decrypt_integers(array - 2**bits, KEY).tolist() == [3 - 2**bits, -5 - 2**bits]


@pytest.mark.parametrize(("key_bits", "slots"), [(2048, 31), (3072, 47)])
def test_as_many_64_bit_slots_as_the_key_holds(key_bits: int, slots: int) -> None:
    assert plan_slots(Program.of_bits(10), key_bits=key_bits, slot_bits=64).slots == slots


def test_each_step_has_its_exact_bound() -> None:
    program = Program.start(1.5, 4).add_up(3).scale(0.3, 2).mask(64)
    factor = 2  # 0.3 * 4, rounded up
    bounds = [24, 72, 72 * factor]
    bounds.append(bounds[-1] + ((2 * bounds[-1] + 1) << 64))
    assert [stage.bound for stage in program.stages] == bounds
    assert program.last.fraction_bits == 6


def test_a_program_that_could_overflow_is_refused() -> None:
    program = Program.of_bits(20).add_up(1024)
    with pytest.raises(ParameterError, match="needs slots of 31 bits, got 30"):
        plan_slots(program, key_bits=2048, slot_bits=30)
    assert plan_slots(program, key_bits=2048, slot_bits=31).slots == 66


def test_a_program_that_no_plaintext_holds_is_refused() -> None:
    with pytest.raises(ParameterError, match="more than a key of 2048 bits holds"):
        plan_slots(Program.of_bits(2047), key_bits=2048)
    assert plan_slots(Program.of_bits(2046), key_bits=2048).slots == 1


def test_masks_have_64_bits_of_slack_or_more() -> None:
    assert mask_bound(100) == 201 << 64
    with pytest.raises(ParameterError, match="slack must be >= 64 bits, got 63"):
        Program.of_bits(8).mask(63)


FILE = Path(__file__).parents[2] / "vectors" / "paillier.json"
VECTORS = [
    {name: int(number, 16) for name, number in vector.items()}
    for vector in json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
]


def ids(vector: dict[str, int]) -> str:
    return f"{(vector['p'] * vector['q']).bit_length()} bits"


def test_there_are_vectors_of_several_lengths() -> None:
    assert len({ids(vector) for vector in VECTORS}) == 5


@pytest.mark.parametrize("vector", VECTORS, ids=ids)
def test_a_known_ciphertext_decrypts_to_its_plaintext(vector: dict[str, int]) -> None:
    private = insecure_key_of_primes(vector["p"], vector["q"])
    assert private.secret.plaintexts([gmpy2.mpz(vector["ciphertext"])]) == [vector["plaintext"]]


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["p"] > 1 << 100], ids=ids)
def test_phe_reads_the_vectors_alike(vector: dict[str, int]) -> None:
    public = phe.PaillierPublicKey(vector["p"] * vector["q"])
    private = phe.PaillierPrivateKey(public, vector["p"], vector["q"])
    assert private.raw_decrypt(vector["ciphertext"]) == vector["plaintext"]

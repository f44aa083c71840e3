"""Keys and arrays survive being stored, and what is unfit is refused without being shown."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import InputError, ParameterError, SottovoceError
from sottovoce.learn.paillier import key_files
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid, gmpy2
from sottovoce.learn.paillier.key_files import (
    load_private_key,
    prove_key,
    public_key_from_text,
    public_key_to_text,
    save_private_key,
)
from sottovoce.learn.paillier.keys import PrivateKey, generate_key
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import (
    _PREFIX,
    array_from_bytes,
    array_to_bytes,
    decrypt,
    encrypt,
)

KEY = insecure_key_for_tests(256)
PLAN = plan_slots(Program.start(8, 8).add_up(3), key_bits=256, slot_bits=36)
PHRASE, WRONG = "a quiet voice", "a loud voice"
VALUES = np.arange(30.0).reshape(2, 15) / 4


@pytest.fixture(scope="module")
def private() -> PrivateKey:
    return generate_key(2048)


@pytest.fixture
def cheap_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrypt's memory is for attackers; tests need none of it."""
    monkeypatch.setattr(key_files, "_SCRYPT_COST", 1 << 4)


@pytest.fixture
def array() -> EncryptedArray:
    return encrypt(VALUES, PLAN, KEY)


def test_a_private_key_is_stored_for_its_owner_only(private: PrivateKey, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    save_private_key(private, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_private_key(path).secret.p == private.secret.p


def test_a_key_file_that_others_can_read_is_refused(private: PrivateKey, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    save_private_key(private, path)
    for mode in (0o640, 0o604, 0o610):
        path.chmod(mode)
        with pytest.raises(InputError, match="chmod 600"):
            load_private_key(path)


@pytest.mark.usefixtures("cheap_derivation")
def test_a_passphrase_seals_a_private_key(private: PrivateKey, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    save_private_key(private, path, passphrase=PHRASE)
    text = path.read_text()
    assert f"{int(private.secret.p):x}" not in text
    assert f"{int(private.secret.q):x}" not in text
    assert load_private_key(path, passphrase=PHRASE).secret.q == private.secret.q
    with pytest.raises(InputError, match="give its passphrase"):
        load_private_key(path)
    with pytest.raises(InputError, match="passphrase is wrong") as refusal:
        load_private_key(path, passphrase=WRONG)
    assert WRONG not in str(refusal.value)
    with pytest.raises(InputError, match="must not be empty"):
        save_private_key(private, path, passphrase="")


def test_whoever_tries_a_passphrase_needs_128_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[int] = []

    def spied(salt: bytes, length: int, n: int, r: int, p: int) -> Scrypt:
        derived.append(128 * n * r * p)
        return Scrypt(salt, length, 1 << 4, r, p)

    monkeypatch.setattr(key_files, "Scrypt", spied)
    fields = key_files.seal_fields(b"secret", PHRASE, "")
    salt, nonce, sealed = (bytes.fromhex(fields[name]) for name in ("salt", "nonce", "sealed"))
    assert key_files.unseal(salt, nonce, sealed, PHRASE, "") == b"secret"
    assert derived == [128 << 20] * 2


@pytest.mark.usefixtures("cheap_derivation")
def test_a_sealed_file_that_was_changed_is_refused(private: PrivateKey, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    save_private_key(private, path, passphrase=PHRASE)
    fields = json.loads(path.read_text())
    for change in (
        {"fingerprint": "0" * 32},
        {"sealed": "00" + fields["sealed"][2:]},
        {"salt": "zz"},
        {"nonce": "00"},
        {"sealed": 3},
    ):
        path.write_text(json.dumps({**fields, **change}))
        with pytest.raises(InputError):
            load_private_key(path, passphrase=PHRASE)


@pytest.mark.parametrize(
    "change",
    [
        {"p": None},
        {"p": "xyz"},
        {"p": 7},
        {"q": "0"},
        {"format": "other"},
        {"version": 2},
        {"fingerprint": "0" * 32},
    ],
)
def test_a_private_key_file_that_is_unfit_is_refused(
    private: PrivateKey, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "key.json"
    save_private_key(private, path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError) as refusal:
        load_private_key(path)
    assert f"{int(private.secret.p):x}"[:12] not in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b" " * 300_000])
def test_what_is_no_key_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.json"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError):
        load_private_key(path)
    with pytest.raises(InputError, match="cannot read"):
        load_private_key(tmp_path / "absent.json")
    with pytest.raises(InputError):
        public_key_from_text(content.decode(errors="replace"))


def test_a_public_key_travels_with_its_proof(private: PrivateKey) -> None:
    proof = prove_key(private)
    written = public_key_to_text(private.public, proof)
    assert public_key_from_text(written, needs_proof=True) == private.public
    bare = public_key_to_text(private.public)
    assert public_key_from_text(bare) == private.public
    with pytest.raises(InputError, match="must come with its owner's proof"):
        public_key_from_text(bare, needs_proof=True)
    with pytest.raises(InputError, match="does not hold"):
        public_key_from_text(public_key_to_text(private.public, proof[::-1]))


def test_an_array_is_read_back_as_it_was(array: EncryptedArray) -> None:
    plan = plan_slots(Program.start(8, 8), key_bits=256, packed=False)
    for each in (array, array[0], encrypt(VALUES, plan, KEY), encrypt(3, plan, KEY), array[:0]):
        read = array_from_bytes(array_to_bytes(each), KEY.public, plan=each.plan)
        assert read.shape == each.shape
        assert (decrypt(read, KEY) == decrypt(each, KEY)).all()
        assert (read.bound, read.fraction_bits) == (each.bound, each.fraction_bits)
        assert not read.blinded


def test_what_leaves_is_blinded(array: EncryptedArray) -> None:
    assert array_to_bytes(array) == array_to_bytes(array)
    computed = array * 2
    assert array_to_bytes(computed) != array_to_bytes(computed)


def test_fully_blinded_arrays_are_accepted_back() -> None:
    many = encrypt(np.arange(320.0).reshape(40, 8) / 64, PLAN, KEY)
    sent = array_to_bytes((many + 0).blind(full=True))
    back = array_from_bytes(sent, KEY.public, plan=PLAN)
    np.testing.assert_array_equal(decrypt(back, KEY), decrypt(many, KEY))


def test_the_bound_that_leaves_tells_nothing_of_a_private_scalar(array: EncryptedArray) -> None:
    for scalar in (2, 3):
        sent = array_from_bytes(array_to_bytes(array * scalar), KEY.public, plan=PLAN)
        assert sent.bound == PLAN.program.last.bound


def test_an_array_of_another_key_or_plan_is_refused(array: EncryptedArray) -> None:
    data = array_to_bytes(array)
    with pytest.raises(InputError, match="under another key"):
        array_from_bytes(data, insecure_key_for_tests(256, 1).public, plan=PLAN)
    with pytest.raises(InputError, match="under another plan"):
        array_from_bytes(data, KEY.public, plan=plan_slots(Program.of_bits(9), key_bits=256))


def _jacobi_minus_one() -> int:
    n = KEY.public.n
    return int(next(each for each in range(2, 1000) if gmpy2.jacobi(each, n) == -1))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "between 0 and the modulus squared"),
        (int(KEY.public.n_squared), "between 0 and the modulus squared"),
        (int(KEY.public.n_squared) + 5, "between 0 and the modulus squared"),
        (int(KEY.secret.p), "share no factor"),
        (int(KEY.public.n) * 7, "share no factor"),
        (_jacobi_minus_one(), "Jacobi symbol"),
    ],
    # A key is new in every process; a test's name must not be.
    ids=["zero", "modulus squared", "beyond it", "a factor", "a multiple", "Jacobi"],
)
def test_a_number_that_is_no_ciphertext_is_refused(
    array: EncryptedArray, number: int, words: str
) -> None:
    grid = array.ciphertexts.copy()
    grid[1, 2] = number
    forged = replace(array, ciphertexts=as_grid(list(grid.ravel()), grid.shape), blinded=True)
    with pytest.raises(InputError, match=words) as refusal:
        array_from_bytes(array_to_bytes(forged), KEY.public, plan=PLAN)
    assert str(number)[:8] not in str(refusal.value) or number < 1000


def changed(data: bytes, **fields: object) -> bytes:
    _, _, length = _PREFIX.unpack_from(data)
    header = json.loads(data[_PREFIX.size : _PREFIX.size + length]) | fields
    coded = json.dumps(header).encode()
    return _PREFIX.pack(b"SVPA", 1, len(coded)) + coded + data[_PREFIX.size + length :]


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": [2, 16 * 7]},
        {"shape": [1 << 40, 1 << 40]},
        {"shape": [-1, 15]},
        {"shape": [True, 2, 15]},
        {"shape": [2.0, 15]},
        {"shape": "no"},
        {"shape": [1] * 9},
        {"slot_bits": 0},
        {"slots": 8},
        {"program": [["ff", -1]]},
        {"bound": "f" * 20},
        {"bound": 5},
        {"bound": "-1"},
        {"fraction_bits": 10**9},
        {"fraction_bits": None},
        {"key": 3},
    ],
)
def test_a_header_that_cannot_be_is_refused(
    array: EncryptedArray, fields: dict[str, object]
) -> None:
    data = array_to_bytes(array)
    assert array_from_bytes(changed(data), KEY.public, plan=PLAN).shape == (2, 15)
    with pytest.raises(SottovoceError):
        array_from_bytes(changed(data, **fields), KEY.public, plan=PLAN)


def test_an_empty_array_of_endless_axes_is_refused(array: EncryptedArray) -> None:
    no_body = array_to_bytes(array)[: -6 * KEY.public.ciphertext_bytes]
    empty = array_from_bytes(changed(no_body, shape=[0, 3, 5]), KEY.public, plan=PLAN)
    assert empty.shape == (0, 3, 5)
    endless = [0, 2147483647, 2147483647, 2147483647, 5]
    with pytest.raises(InputError, match="fewer than 2147483648 numbers"):
        array_from_bytes(changed(no_body, shape=endless), KEY.public, plan=PLAN)


def test_a_bound_that_is_no_step_of_the_agreed_plan_is_refused(array: EncryptedArray) -> None:
    data = array_to_bytes(array)
    for stage in PLAN.program.stages:
        told = changed(data, bound=f"{stage.bound:x}")
        assert array_from_bytes(told, KEY.public, plan=PLAN).bound == stage.bound
    for bound in (0, PLAN.value_bound + 1, PLAN.program.bound - 1, PLAN.program.bound + 1):
        with pytest.raises(ParameterError, match="step of the plan"):
            array_from_bytes(changed(data, bound=f"{bound:x}"), KEY.public, plan=PLAN)


def test_other_versions_formats_and_lengths_are_refused(array: EncryptedArray) -> None:
    data = array_to_bytes(array)
    for broken, words in (
        (b"", "too short"),
        (b"XXXX" + data[4:], "not an encrypted array"),
        (data[:4] + b"\x02" + data[5:], "version 1, got 2"),
        (data[:5] + b"\xff\xff\xff\xff" + data[9:], "at most 65536 bytes"),
        (data[:-1], "must hold 6 ciphertexts of 64 bytes"),
        (data + b"\x00", "must hold 6 ciphertexts of 64 bytes"),
    ):
        with pytest.raises(InputError, match=words):
            array_from_bytes(broken, KEY.public, plan=PLAN)

"""Known ciphertexts, kept apart from the code that they check."""

import json
from pathlib import Path

import pytest
from phe import paillier as phe
from support.paillier_keys import insecure_key_of_primes

from sottovoce.learn.paillier.grid import gmpy2

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

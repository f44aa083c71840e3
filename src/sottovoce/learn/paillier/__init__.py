"""Paillier for vectors: keys, packed fixed-point arrays, and arithmetic on them."""

from sottovoce.learn.paillier.array import EncryptedArray, concatenate
from sottovoce.learn.paillier.key_files import (
    load_private_key,
    load_public_key,
    public_key_from_text,
    public_key_to_text,
    save_private_key,
    save_public_key,
)
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey, generate_key
from sottovoce.learn.paillier.numbers import cores
from sottovoce.learn.paillier.plan import (
    SLACK_BITS,
    Program,
    SlotPlan,
    Stage,
    mask_bound,
    plan_slots,
)
from sottovoce.learn.paillier.proof import KeyProof, check_key_proof, prove_key
from sottovoce.learn.paillier.scheme import decrypt, decrypt_integers, encrypt, encrypt_integers
from sottovoce.learn.paillier.validation import DEFAULT_BITS, MINIMUM_BITS
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes

__all__ = [
    "DEFAULT_BITS",
    "MINIMUM_BITS",
    "SLACK_BITS",
    "EncryptedArray",
    "KeyProof",
    "PrivateKey",
    "Program",
    "PublicKey",
    "SlotPlan",
    "Stage",
    "array_from_bytes",
    "array_to_bytes",
    "check_key_proof",
    "concatenate",
    "cores",
    "decrypt",
    "decrypt_integers",
    "encrypt",
    "encrypt_integers",
    "generate_key",
    "load_private_key",
    "load_public_key",
    "mask_bound",
    "plan_slots",
    "prove_key",
    "public_key_from_text",
    "public_key_to_text",
    "save_private_key",
    "save_public_key",
]

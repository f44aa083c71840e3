"""Paillier for vectors: keys, packed fixed-point arrays, and arithmetic on them."""

from sottovoce.learn.paillier.array import EncryptedArray, concatenate
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
from sottovoce.learn.paillier.scheme import decrypt, decrypt_integers, encrypt, encrypt_integers
from sottovoce.learn.paillier.validation import DEFAULT_BITS, MINIMUM_BITS

__all__ = [
    "DEFAULT_BITS",
    "MINIMUM_BITS",
    "SLACK_BITS",
    "EncryptedArray",
    "PrivateKey",
    "Program",
    "PublicKey",
    "SlotPlan",
    "Stage",
    "concatenate",
    "cores",
    "decrypt",
    "decrypt_integers",
    "encrypt",
    "encrypt_integers",
    "generate_key",
    "mask_bound",
    "plan_slots",
]

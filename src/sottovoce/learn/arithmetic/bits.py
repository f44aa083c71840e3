"""Bits that two parties share by exclusive or, and to whom they are told."""

from typing import Literal, TypeAlias, get_args

import numpy as np

from sottovoce.errors import check_choice
from sottovoce.learn.arithmetic.comparison import Bits
from sottovoce.learn.arithmetic.outline import Outline, settled
from sottovoce.learn.arithmetic.script import Hear, Say, Script
from sottovoce.learn.arithmetic.showing import hear_reply, reply
from sottovoce.learn.paillier import EncryptedArray, PrivateKey, PublicKey
from sottovoce.learn.party import DamagedMessageError, Message

Told: TypeAlias = Literal["ciphertext holder", "key holder", "nobody"]


def check_told(told: str) -> None:
    """Refuse a party that is none."""
    check_choice("told", told, get_args(Told))


def ask_bits(share: Bits, told: Told) -> Script[Bits]:
    """The ciphertext holder's part: the bits if it is told them, else its share again."""
    check_told(told)
    if told == "key holder":
        yield Say("share", {"bits": share.astype(np.uint8)})
    if told != "ciphertext holder":
        return share
    other: Bits = yield Hear("share", lambda message: _read(message, share.shape))
    return share ^ other


def answer_bits(share: Bits, told: Told) -> Script[Bits]:
    """The key holder's part: the bits if it is told them, else its share again."""
    check_told(told)
    if told == "ciphertext holder":
        yield Say("share", {"bits": share.astype(np.uint8)})
    if told != "key holder":
        return share
    other: Bits = yield Hear("share", lambda message: _read(message, share.shape))
    return share ^ other


def ask_encrypted_bits(share: Bits, public: PublicKey) -> Script[EncryptedArray]:
    """The ciphertext holder's part: the shared bits under encryption.

    a xor b = b where its share a is 0, and 1 - b where it is 1.
    """
    outline = Outline(share.shape, 1)
    other = yield hear_reply("encrypted bits", public, outline.plan(public.bits), share.shape)
    return settled(other.times(1 - 2 * share, bound=1).plus_integers(share, bound=1), outline)


def answer_encrypted_bits(share: Bits, key: PrivateKey) -> Script[None]:
    """The key holder's part: its share, encrypted."""
    plan = Outline(share.shape, 1).plan(key.public.bits)
    yield reply("encrypted bits", share.astype(object), plan, key)


def _read(message: Message, shape: tuple[int, ...]) -> Bits:
    bits = message.array("bits", "|u1", ndim=len(shape))
    if bits.shape != shape or (bits > 1).any():
        raise DamagedMessageError(f"a share must be {shape[0]} bits.")
    return bits.astype(np.int64)

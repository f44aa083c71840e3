"""Numbers under a test key, with the outline that both parties know."""

import numpy as np
from numpy.typing import ArrayLike
from sottovoce_lab.learn.paper.shown import Outline

from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.wire import encrypt_integers
from support.paillier_keys import insecure_key_for_tests

KEY = insecure_key_for_tests(512)
WIDE_KEY = insecure_key_for_tests(1024)


def hidden(
    integers: ArrayLike, bound: int, key: PrivateKey = KEY
) -> tuple[EncryptedArray, Outline]:
    """Encrypted integers of at most ``bound``."""
    given = np.asarray(integers)
    outline = Outline(given.shape, bound)
    return encrypt_integers(given, outline.plan(key.public.bits), key), outline

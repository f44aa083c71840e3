"""A keystream under a known key, for checks whose draws must repeat; never for a release.

No mechanism, estimator or command takes it as an option.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray


class FixedKeystream:
    """AES-256-CTR under the key that ``seed`` names."""

    def __init__(self, seed: int) -> None:
        self._cipher = Cipher(AES(seed.to_bytes(32, "big")), CTR(bytes(16))).encryptor()

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with the next bytes of the keystream."""
        self._cipher.update_into(bytes(out.size), out.data)

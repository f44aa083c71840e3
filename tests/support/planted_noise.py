"""Noise that is broken on purpose, each in its own way, for audits to find.

A fault is planted into the code that releases: into the mechanism, the plan or what they stand on.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.randomness import SystemKeystream, system_bytes
from sottovoce.release.compression.maps import RandomCompression
from sottovoce.release.plan import ColumnNoise, ReleasePlan

Dense = NDArray[np.int64]
Break = Callable[[Dense, Dense], Dense]
"""True counts and noise in, the noise of a broken release out."""
Plant = Callable[[pytest.MonkeyPatch], None]
REPEATS_AFTER = (1 << 20) * 16


def in_mechanism(broken: Break) -> Plant:
    """Break what the mechanism adds."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(GeometricMechanism, "sparse", _breaking(GeometricMechanism.sparse, broken))

    return plant


def in_plan(broken: Break) -> Plant:
    """Break what the plan adds to its columns."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(ColumnNoise, "added_to", _breaking(ColumnNoise.added_to, broken))

    return plant


def _breaking(sound: Callable[..., Any], broken: Break) -> Callable[..., Any]:
    def add(self: object, counts: Any, **options: Any) -> Any:  # noqa: ANN401 - as the sound one
        true = np.asarray(counts.toarray(), np.int64)
        noise = np.asarray(sound(self, counts, **options).toarray(), np.int64) - true
        return sparse.csr_array(true + broken(true, noise))

    return add


def reused(_true: Dense, noise: Dense) -> Dense:
    """The second document gets the first one's noise."""
    noise[1] = noise[0]
    return noise


def reused_shifted(_true: Dense, noise: Dense) -> Dense:
    """The same, shifted by one column."""
    noise[1, 1:] = noise[0, :-1]
    return noise


def silent_column(_true: Dense, noise: Dense) -> Dense:
    """One column is published as it is."""
    noise[:, 3:4] = 0
    return noise


def skipped_empty(true: Dense, noise: Dense) -> Dense:
    """Documents without a word get no noise."""
    noise[~true.any(axis=1)] = 0
    return noise


def every_thousandth(_true: Dense, noise: Dense) -> Dense:
    """One cell in a thousand is published as it is."""
    noise.reshape(-1)[::1000] = 0
    return noise


def stored_only(true: Dense, noise: Dense) -> Dense:
    """Cells without a count get no noise."""
    return np.where(true == 0, 0, noise)


def never_below(_true: Dense, noise: Dense) -> Dense:
    """Noise only ever adds."""
    return np.abs(noise)


def one_noise_for_two_columns(_true: Dense, noise: Dense) -> Dense:
    """Two columns have the same noise in every document."""
    noise[:, 7] = noise[:, 2]
    return noise


def silent_end(_true: Dense, noise: Dense) -> Dense:
    """The last tenth of the documents is published as it is."""
    noise[-(len(noise) // 10) :] = 0
    return noise


def negated(_true: Dense, noise: Dense) -> Dense:
    """The second document gets the first one's noise with the other sign: their sum is exact."""
    noise[1] = -noise[0]
    return noise


def negated_column(_true: Dense, noise: Dense) -> Dense:
    """The sum of two columns is exact in every document."""
    noise[:, 7] = -noise[:, 2]
    return noise


def large_exact(true: Dense, noise: Dense) -> Dense:
    """Counts from 50 up are published as they are."""
    return np.where(true >= 50, 0, noise)


def one_noise_for_one_text(true: Dense, noise: Dense) -> Dense:
    """Documents of the same counts get the same noise."""
    first: dict[bytes, int] = {}
    for i, row in enumerate(true):
        noise[i] = noise[first.setdefault(row.tobytes(), i)]
    return noise


def exact_frequencies(patch: pytest.MonkeyPatch) -> None:
    """Frequencies that were bought are published as they are."""
    patch.setattr("sottovoce.release.compression.frequency._add_noise", lambda counts, *_: counts)


def less_noise(patch: pytest.MonkeyPatch) -> None:
    """The plan draws at a rate 5% above the one it states."""
    sound = ReleasePlan.noise.fget  # type: ignore[attr-defined] # a property

    def weaker(plan: ReleasePlan) -> ColumnNoise:
        stated: ColumnNoise = sound(plan)
        rate = stated.rate * Fraction(105, 100)
        return ColumnNoise(rate, stated.threshold, stated.constant_work)

    patch.setattr(ReleasePlan, "noise", property(weaker))


def word_counted_twice(patch: pytest.MonkeyPatch) -> None:
    """A word is added to a second column too, which no published map says."""
    sound = RandomCompression.transform

    def twice(self: RandomCompression, X: Any) -> Any:  # noqa: ANN401, N803 - scikit-learn's
        out = sparse.lil_array(sound(self, X))
        out[:, [0]] += sparse.csr_array(X)[:, [1]]
        return sparse.csr_array(out)

    patch.setattr(RandomCompression, "transform", twice)


def repeating_keystream(patch: pytest.MonkeyPatch) -> None:
    """The counter of the cipher begins again after 2^20 blocks."""

    def rekey(self: Any) -> None:  # noqa: ANN401 - a keystream
        sound(self)
        self.secret = system_bytes(32)
        self.drawn = REPEATS_AFTER

    def fill(self: Any, out: NDArray[np.uint8]) -> None:  # noqa: ANN401 - a keystream
        if self.drawn + out.size > REPEATS_AFTER:
            self._cipher = Cipher(AES(self.secret), CTR(bytes(16))).encryptor()
            self.drawn = 0
        self.drawn += out.size
        self._cipher.update_into(bytes(out.size), out.data)

    sound = SystemKeystream._rekey
    patch.setattr(SystemKeystream, "_rekey", rekey)
    patch.setattr(SystemKeystream, "_fill_piece", fill)


FAULTS: dict[str, Plant] = {
    "less noise in the plan": less_noise,
    "noise of two documents in the mechanism": in_mechanism(reused),
    "noise of two documents in the plan": in_plan(reused),
    "shifted noise of two documents in the mechanism": in_mechanism(reused_shifted),
    "shifted noise of two documents in the plan": in_plan(reused_shifted),
    "a column without noise in the mechanism": in_mechanism(silent_column),
    "a column without noise in the plan": in_plan(silent_column),
    "empty documents skipped in the plan": in_plan(skipped_empty),
    "every thousandth cell exact": in_plan(every_thousandth),
    "a keystream that repeats": repeating_keystream,
    "noise on stored cells only": in_plan(stored_only),
    "noise that only adds": in_mechanism(never_below),
    "one noise for two columns": in_plan(one_noise_for_two_columns),
    "the last tenth exact": in_plan(silent_end),
    "a word counted twice": word_counted_twice,
    "a document's noise with the other sign": in_plan(negated),
    "a column's noise with the other sign": in_plan(negated_column),
    "large counts exact": in_plan(large_exact),
    "one noise for one text": in_plan(one_noise_for_one_text),
    "bought frequencies exact": exact_frequencies,
}

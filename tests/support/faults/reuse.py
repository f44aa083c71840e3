"""One draw that serves several cells, rows, shards, runs or purposes."""

import hashlib
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray
from sottovoce_spark import sharded_job
from sottovoce_spark._noise import Block, NoiseTask
from sottovoce_spark.repeatable import RepeatableMechanism

from sottovoce.privacy import mechanism, randomness
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.randomness import SystemKeystream
from sottovoce.release.counts import Counts
from sottovoce.release.plan import ReleasePlan
from support.faults.bending import Cells, Noised, bend_noise, bent, planted


@bent("reuse", "serious", "visiting", "few ones", "two documents")
def rows_share_their_noise(cells: Noised) -> Cells:
    """Every document gets the noise of the first: it was broadcast."""
    return np.broadcast_to(cells.noise[:1], cells.noise.shape)


@bent("reuse", "serious", "leaping", "half ones", "two documents")
def pairs_of_rows_share_their_noise(cells: Noised) -> Cells:
    """Each second document gets the noise of the one before."""
    return cells.noise[np.arange(cells.truth.shape[0]) // 2 * 2]


@bent("reuse", "serious", "sharded", "few ones", "two documents")
def rows_are_mirrored(cells: Noised) -> Cells:
    """Each second document gets the noise of the one before, its sign turned."""
    turned = np.where(cells.rows % 2 == 1, -1, 1)
    return cells.noise[np.arange(cells.truth.shape[0]) // 2 * 2] * turned


@bent("reuse", "serious", "summed", "few ones", "two words")
def columns_are_mirrored(cells: Noised) -> Cells:
    """Each second word gets the noise of the one before, its sign turned: sums come out right."""
    turned = np.where(cells.columns % 2 == 1, -1, 1)
    return cells.noise[:, np.arange(cells.truth.shape[1]) // 2 * 2] * turned


@bent("reuse", "serious", "visiting", "few ones", "98 documents")
def distant_rows_share_their_noise(cells: Noised) -> Cells:
    """Noise of 97 documents is kept, and goes round."""
    return cells.noise[np.arange(cells.truth.shape[0]) % 97]


@bent("reuse", "serious", "visiting", "equal documents", "two equal documents")
def equal_documents_get_equal_noise(cells: Noised) -> Cells:
    """The noise of a document follows from its counts, so that it is the same wherever it is."""
    found = [_stream(hashlib.sha256(row.tobytes()).digest()) for row in cells.truth]
    sampler, width = cells.mechanism._sampler, cells.truth.shape[1]
    return np.stack([sampler.draw(width, source) for source in found])


@planted("reuse", "serious", "visiting", "few ones", "two runs")
def equal_releases_get_equal_noise(patch: pytest.MonkeyPatch) -> None:
    """Every run has the same key."""
    patch.setattr(randomness, "system_bytes", bytes)


@planted("reuse", "serious", "leaping", "few ones", "two runs")
def runs_of_a_second_share_their_noise(patch: pytest.MonkeyPatch) -> None:
    """The key is the hash of a clock that stands still for as long as the block lasts."""
    digest = hashlib.sha256(b"1700000000").digest()
    patch.setattr(randomness, "system_bytes", lambda count: (digest * count)[:count])


@bent("reuse", "serious", "constant-work", "few ones", "two runs, or whoever guesses the seed")
def noise_from_a_seeded_generator(cells: Noised) -> Cells:
    """Numpy draws the noise from a seed, of the right law: every run draws the same."""
    generator = np.random.default_rng(0)
    chance = -np.expm1(-float(cells.mechanism.rate))
    first, second = (generator.geometric(chance, cells.truth.shape) for _ in range(2))
    return (first - second).astype(np.int64)


@planted("reuse", "serious", "visiting", "few ones", "4,097 cells")
def keystream_goes_round(patch: pytest.MonkeyPatch) -> None:
    """A buffer of 8 KiB is filled once and read again and again: noise repeats each 4,096 draws."""
    _go_round(patch, 1 << 13)


@planted("reuse", "serious", "visiting", "more than a block", "65,537 cells")
def keystream_goes_round_late(patch: pytest.MonkeyPatch) -> None:
    """The counter begins again at each piece: noise repeats each 65,536 draws."""
    _go_round(patch, 1 << 17)


def _go_round(patch: pytest.MonkeyPatch, period: int) -> None:
    fill = SystemKeystream.fill

    def again(self: SystemKeystream, out: NDArray[np.uint8]) -> None:
        kept = vars(self).get("round")
        if kept is None:
            kept = np.empty(period, np.uint8)
            fill(self, kept)
            vars(self).update(round=kept, at=0)
        at = vars(self)["at"]
        out[:] = kept[(at + np.arange(out.size)) % period]
        vars(self)["at"] = (at + out.size) % period

    patch.setattr(SystemKeystream, "fill", again)


@planted("reuse", "serious", "constant-work", "enough for two threads", "two threads, 2^19 cells")
def threads_share_a_key(patch: pytest.MonkeyPatch) -> None:
    """A call draws one key, and each of its threads makes a keystream of it."""
    sparse, dense, noise = (
        getattr(GeometricMechanism, name) for name in ("sparse", "dense", "noise")
    )

    def one_key(call: Any) -> Any:  # noqa: ANN401 - any of three
        def called(self: GeometricMechanism, *given: object, **named: object) -> object:
            key = randomness.system_bytes(32)
            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(GeometricMechanism, "_new_source", lambda _: _stream(key))
                return call(self, *given, **named)

        return called

    for name, call in (("sparse", sparse), ("dense", dense), ("noise", noise)):
        patch.setattr(mechanism.GeometricMechanism, name, one_key(call))


@planted("reuse", "serious", "sharded", "few ones", "two shards")
def shards_share_their_noise(patch: pytest.MonkeyPatch) -> None:
    """The purpose of a keystream names the noise, not the block that it is for."""
    patch.setattr(NoiseTask, "purpose", lambda _self, _block: bytes(32))


@planted(
    "reuse",
    "serious",
    "sharded",
    "few ones",
    "a run that is tried again with other data under its secret",
)
def other_data_gets_the_same_noise(patch: pytest.MonkeyPatch) -> None:
    """The purpose names the place of a block, not what is in it: changed data meets old noise."""

    def by_place(self: NoiseTask, block: Block) -> bytes:
        return block.place.to_bytes(32, "big")

    patch.setattr(NoiseTask, "purpose", by_place)


@planted("reuse", "serious", "sharded", "few ones", "two runs")
def sharded_releases_share_a_secret(patch: pytest.MonkeyPatch) -> None:
    """The secret of a sharded release is the same in every run."""
    patch.setattr(sharded_job, "noise_secret", lambda: bytes(32))


@planted("reuse", "serious", "sharded", "few ones", "a block that is noised twice under one secret")
def retried_shards_get_other_noise(patch: pytest.MonkeyPatch) -> None:
    """A block that is tried again is noised afresh: two noises of one document lie about."""
    patch.setattr(
        RepeatableMechanism, "_new_source", lambda self: _stream(randomness.system_bytes(32))
    )


@planted("reuse", "serious", "central prior", "few ones", "a paid prior, one document")
def prior_and_counts_share_their_noise(patch: pytest.MonkeyPatch) -> None:
    """Each mechanism of one release begins the same keystream: frequencies and counts too."""
    draw = ReleasePlan.draw

    def one_key(self: ReleasePlan, counts: Counts) -> object:
        key = randomness.system_bytes(32)
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(GeometricMechanism, "_new_source", lambda _: _stream(key))
            return draw(self, counts)

    patch.setattr(ReleasePlan, "draw", one_key)


@planted("reuse", "serious", "visiting", "few ones", "two runs of one shape")
def noise_is_kept_for_the_next_release(patch: pytest.MonkeyPatch) -> None:
    """Noise of a shape that was drawn before is taken again, for speed."""
    kept: dict[tuple[int, ...], Cells] = {}
    bend_noise(patch, lambda cells: kept.setdefault(cells.truth.shape, cells.noise))


class _Stream:
    """A keystream of a known key, as whoever keeps keys would have it."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(AES(key), CTR(bytes(16))).encryptor()

    def fill(self, out: NDArray[np.uint8]) -> None:
        out[:] = np.frombuffer(self._cipher.update(bytes(out.size)), np.uint8)


def _stream(key: bytes) -> _Stream:
    return _Stream(key)

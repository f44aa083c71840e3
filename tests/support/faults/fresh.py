"""Faults by a third author, who had read the faults beside them but no check."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce_spark._noise import Block, NoiseTask

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.counts import Counts
from support.faults.bending import Cells, Noised, bend_noise, bent, planted, whole


@bent("scale", "serious", "visiting", "few ones", "200 documents")
def last_column_has_two_thirds(cells: Noised) -> Cells:
    """The last word is noised at three halves of the rate."""
    last = cells.columns == cells.truth.shape[1] - 1
    return np.where(last, cells.again(Fraction(3, 2)), cells.noise)


@bent("scale", "moderate", "visiting", "large and odd", "counts of ten and more")
def large_counts_have_a_fifth_less(cells: Noised) -> Cells:
    """Counts of ten and more are noised by the law of another rate, five fourths of the right."""
    return np.where(cells.truth >= 10, cells.again(Fraction(5, 4)), cells.noise)


@bent("position", "serious", "visiting", "short and long documents", "one long document")
def longest_document_has_half(cells: Noised) -> Cells:
    """The document with most words is noised at twice the rate."""
    lengths = cells.truth.sum(axis=1, keepdims=True)
    return np.where(lengths == lengths.max(), cells.again(2), cells.noise)


@bent("scale", "serious", "visiting", "a single one", "200 words that one document has")
def words_of_one_document_have_half(cells: Noised) -> Cells:
    """A word that only one document has is noised at twice the rate."""
    holders = (cells.truth > 0).sum(axis=0, keepdims=True)
    return np.where(holders == 1, cells.again(2), cells.noise)


@bent("reuse", "serious", "visiting", "few ones", "two runs, or whoever knows a row's number")
def rows_are_seeded_by_their_number(cells: Noised) -> Cells:
    """Numpy draws the noise of each document from a seed that is its number."""
    chance = -np.expm1(-float(cells.mechanism.rate))
    width = cells.truth.shape[1]

    def row(number: int) -> Cells:
        generator = np.random.default_rng(number)
        first, second = (generator.geometric(chance, width) for _ in range(2))
        return whole(first - second)

    return np.stack([row(number) for number in range(cells.truth.shape[0])])


@planted("reuse", "serious", "visiting", "few ones", "two runs of one shape")
def next_release_has_the_mirrored_noise(patch: pytest.MonkeyPatch) -> None:
    """Antithetic draws, for speed: each second run turns the noise of the first around."""
    kept: dict[tuple[int, ...], Cells] = {}

    def mirrored(cells: Noised) -> Cells:
        before = kept.pop(cells.truth.shape, None)
        if before is not None:
            return -before
        kept[cells.truth.shape] = cells.noise
        return cells.noise

    bend_noise(patch, mirrored)


@bent("reuse", "serious", "visiting", "few ones", "two documents")
def rows_are_rotated(cells: Noised) -> Cells:
    """Each second document gets the noise of the one before, a few words further on."""
    before = np.roll(np.roll(cells.noise, 1, axis=0), 5, axis=1)
    return np.where(cells.rows % 2 == 1, before, cells.noise)


@bent("reuse", "serious", "visiting", "equal documents", "two equal documents")
def equal_documents_get_equal_sizes(cells: Noised) -> Cells:
    """Documents of equal counts get noise of equal sizes, under signs of their own."""
    _, first, group = np.unique(cells.truth, axis=0, return_index=True, return_inverse=True)
    sizes = np.abs(cells.noise)[first[group.reshape(-1)]]
    return sizes * (1 - 2 * cells.bits(1))


@planted("reuse", "serious", "sharded", "few ones", "two shards")
def shards_share_half_of_their_noise(patch: pytest.MonkeyPatch) -> None:
    """Each second word has the same noise in every shard."""
    noised = NoiseTask.add_noise
    kept: dict[bytes, Cells] = {}

    def shared(self: NoiseTask, block: Block, counts: Counts) -> Counts:
        compressed = self.compress_counts(counts, block.first_document).toarray()
        noise = noised(self, block, counts).toarray() - compressed
        first = kept.setdefault(self.secret, noise.copy())
        rows = min(len(first), len(noise))
        noise[:rows, ::2] = first[:rows, ::2]
        return type(counts)(compressed + noise)

    patch.setattr(NoiseTask, "add_noise", shared)


@bent("mechanism", "serious", "visiting", "few ones", "two words of a document")
def rows_have_one_sign(cells: Noised) -> Cells:
    """The sign is drawn once for a document: all its noise is up, or all down."""
    return np.abs(cells.noise) * (1 - 2 * cells.bits(1)[:, :1])


@planted("mechanism", "moderate", "constant-work", "few ones", "a thousand cells")
def constant_work_has_a_tenth_less(patch: pytest.MonkeyPatch) -> None:
    """Constant work, and that alone, draws at ten ninths of the rate."""
    dense = GeometricMechanism.dense

    def weaker(self: GeometricMechanism, counts: Cells, **how: int) -> Cells:
        return dense(GeometricMechanism(self.rate * Fraction(10, 9)), counts, **how)

    patch.setattr(GeometricMechanism, "dense", weaker)


@bent("mechanism", "serious", "visiting", "few ones", "a thousand cells")
def noise_comes_from_a_pool(cells: Noised) -> Cells:
    """Five hundred draws are made, and every cell takes one of them at random."""
    return cells.noise.ravel()[:500][cells.bits(32) % min(500, cells.noise.size)]

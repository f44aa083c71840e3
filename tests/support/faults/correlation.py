"""What comes out follows the truth closer than its noise allows, or beside its cells."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sottovoce_spark._noise import NoiseTask

from sottovoce.privacy import _sparse_noise
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.counts import Counts
from sottovoce.release.plan import ReleasePlan
from support.faults.bending import Cells, Noised, bent, planted, whole


@bent("correlation", "serious", "visiting", "few ones", "500 cells")
def tenth_of_cells_is_copied(cells: Noised) -> Cells:
    """One cell in ten, at random, is published as it is."""
    return np.where(cells.bits(16) < 6554, 0, cells.noise)


@bent("correlation", "serious", "visiting", "more than a block", "20,000 cells")
def hundredth_of_cells_is_copied(cells: Noised) -> Cells:
    """One cell in a hundred, at random, is published as it is."""
    return np.where(cells.bits(16) < 655, 0, cells.noise)


@bent("correlation", "serious", "sharded", "half ones", "20 documents")
def tenth_of_rows_is_copied(cells: Noised) -> Cells:
    """One document in ten, at random, is published as it is: all its cells."""
    return np.where(cells.bits(16)[:, :1] < 6554, 0, cells.noise)


@bent("correlation", "serious", "visiting", "zero to three", "100 cells of 1 and more")
def noise_shrinks_with_the_count(cells: Noised) -> Cells:
    """A count of c is noised at 1 + c times the rate."""
    noise = cells.noise.copy()
    for count in np.unique(cells.truth[cells.truth > 0]).tolist():
        there = cells.truth == count
        noise[there] = cells.again(1 + min(count, 20))[there]
    return noise


@bent(
    "correlation",
    "serious",
    "summed",
    "short and long documents",
    "10 documents of different length",
)
def noise_shrinks_with_the_length(cells: Noised) -> Cells:
    """A document of more words than the mean is noised at one and a half times the rate."""
    lengths = cells.truth.sum(axis=1, keepdims=True)
    half = cells.again(2)
    return np.where(lengths > lengths.mean(), half, cells.noise)


@bent("correlation", "serious", "visiting", "half ones", "20 cells")
def sign_follows_the_parity(cells: Noised) -> Cells:
    """Noise on odd counts is upwards, on even ones downwards: a bit of the truth is its sign."""
    return abs(cells.noise) * np.where(cells.truth % 2 == 1, 1, -1)


@bent("correlation", "serious", "constant-work", "half ones", "500 cells in use")
def sign_leans_upwards_on_used_words(cells: Noised) -> Cells:
    """Where a word was used, a quarter of the negative noise is turned upwards."""
    turned = (cells.truth > 0) & (cells.bits(2) == 0)
    return np.where(turned, abs(cells.noise), cells.noise)


@bent("correlation", "serious", "several maps", "few ones", "200 cells")
def noise_leans_towards_the_truth(cells: Noised) -> Cells:
    """What comes out is drawn one step back to the truth, for half of the cells."""
    return whole(cells.noise - np.sign(cells.noise) * (cells.bits(1) == 0))


@bent("correlation", "serious", "visiting", "twos only", "20 cells of 2 and more")
def parity_of_the_truth_stays(cells: Noised) -> Cells:
    """Odd noise is moved by one on counts above 1: their parity is the truth's."""
    odd = (cells.noise % 2 == 1) & (cells.truth > 1)
    return whole(cells.noise + odd * (2 * cells.bits(1) - 1))


@bent("correlation", "serious", "visiting", "few ones", "one document")
def length_of_a_document_stays(cells: Noised) -> Cells:
    """The sum of each document is made right again, in its last cell."""
    noise = cells.noise.copy()
    noise[:, -1] -= noise.sum(axis=1)
    return noise


@bent("correlation", "serious", "visiting", "few ones", "one document")
def length_of_a_document_stays_unseen(cells: Noised) -> Cells:
    """The sum of each document is made right again, one step in as many cells as it takes."""
    sums, width = cells.noise.sum(axis=1, keepdims=True), cells.truth.shape[1]
    steps = abs(sums) // width + (cells.columns < abs(sums) % width)
    return whole(cells.noise - np.sign(sums) * steps)


@bent("correlation", "serious", "leaping", "few ones", "one word")
def totals_of_words_stay(cells: Noised) -> Cells:
    """The sum of each word is made right again, in the last document."""
    noise = cells.noise.copy()
    noise[-1] -= noise.sum(axis=0)
    return noise


@bent(
    "correlation", "serious", "visiting", "words that nobody uses", "one word that no document uses"
)
def unused_words_have_no_noise(cells: Noised) -> Cells:
    """Words that no document used are left out of the matrix that is noised, and put back."""
    return whole(cells.noise * (cells.truth.sum(axis=0, keepdims=True) > 0))


@bent(
    "correlation",
    "serious",
    "visiting",
    "documents without words",
    "one document without a counted word",
)
def empty_documents_have_no_noise(cells: Noised) -> Cells:
    """A document without a counted word is passed over."""
    return whole(cells.noise * (cells.truth.sum(axis=1, keepdims=True) > 0))


@planted(
    "correlation",
    "serious",
    "leaping",
    "half ones",
    "one cell in use that noise makes 0; values alone do not show it",
)
def used_cells_are_stored(patch: pytest.MonkeyPatch) -> None:
    """Cells that were stored stay stored when noise makes them 0: the file tells them apart."""
    _store_as(patch, in_front=False)


@planted(
    "correlation", "serious", "visiting", "few ones", "one document; values alone do not show it"
)
def used_cells_come_first(patch: pytest.MonkeyPatch) -> None:
    """The cells of a row lie in the order in which they were made: those in use before others."""
    _store_as(patch, in_front=True)


def _store_as(patch: pytest.MonkeyPatch, *, in_front: bool) -> None:
    sparse = GeometricMechanism.sparse

    def stored(self: GeometricMechanism, counts: csr_array, **how: Any) -> csr_array:  # noqa: ANN401 - any
        noised = sparse(self, counts, **how).toarray()
        used, kept = counts.toarray() != 0, noised != 0
        there = kept if in_front else kept | (used if how.get("threshold") is None else False)
        rows, columns = np.nonzero(there)
        last = ~used[rows, columns] if in_front else columns
        order = np.lexsort((columns, last, rows))
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        cells = noised[rows, columns][order], columns[order].astype(np.int32), starts
        return csr_array(cells, shape=noised.shape)

    patch.setattr(GeometricMechanism, "sparse", stored)


@planted("correlation", "serious", "thresholded", "few ones", "a threshold, one cell in use")
def used_cells_pass_the_threshold(patch: pytest.MonkeyPatch) -> None:
    """The threshold holds for zero cells only: whatever lies below it was used."""
    merge: Any = vars(_sparse_noise)["merge_cells"]

    def lax(rows: Any, columns: int, zeros: Any, _threshold: int, out: Any) -> None:  # noqa: ANN401 - any
        merge(rows, columns, zeros, 0, out)

    patch.setattr(_sparse_noise, "merge_cells", lax)


@planted(
    "correlation",
    "serious",
    "visiting",
    "short and long documents",
    "two documents of different length",
)
def documents_lie_by_length(patch: pytest.MonkeyPatch) -> None:
    """Documents are put in the order of their length, for speed, and stay so."""
    draw, noised = ReleasePlan.draw, NoiseTask.add_noise
    patch.setattr(ReleasePlan, "draw", lambda self, counts: draw(self, _by_length(counts)))
    patch.setattr(
        NoiseTask, "add_noise", lambda self, block, counts: noised(self, block, _by_length(counts))
    )


def _by_length(counts: Counts) -> Counts:
    counts = csr_array(counts)
    return counts[np.argsort(-np.asarray(counts.sum(axis=1)).ravel(), kind="stable")]

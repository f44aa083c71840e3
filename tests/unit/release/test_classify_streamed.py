"""Classifiers of releases read documents block by block."""

import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import sparse

from sottovoce.corpus.matrix_file import matrix_bytes
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.bayes import PrivateNaiveBayes
from sottovoce.release.classify.inputs import LabelledRows
from sottovoce.release.classify.logistic import fit_released
from sottovoce.release.counts import CountsFile

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = 40
_MADE = 200


@dataclass(frozen=True)
class LongRows:
    """Released documents of two classes in turn, made when they are asked for and not kept."""

    documents: int
    law: NoiseLaw

    @property
    def shape(self) -> tuple[int, int]:
        return self.documents, WORDS

    def blocks(self, rows: int) -> "Iterator[sparse.csr_array[np.int64, tuple[int, int]]]":
        once = self.made()
        for first in range(0, self.documents, rows):
            yield once[np.arange(first, min(first + rows, self.documents)) % _MADE]

    def made(self) -> "sparse.csr_array[np.int64, tuple[int, int]]":
        generator = np.random.default_rng(3)
        means = np.where(np.arange(_MADE)[:, None] % 2 == np.arange(WORDS) % 2, 1.0, 0.2)
        noise = generator.geometric(1 - self.law.alpha, (2, _MADE, WORDS))
        return sparse.csr_array(generator.poisson(means) + noise[0] - noise[1])


class LongRelease:
    """As far as a classifier reads one."""

    def __init__(self, documents: int, rate: float = 1.0) -> None:
        self.law = NoiseLaw(rate)
        self.rows = LongRows(documents, self.law)
        self.maps: tuple[object, ...] = (None,)
        self.labels = np.array(["a", "b"])[np.arange(documents) % 2]


@pytest.fixture
def small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 250 documents, and 300 in a sample."""
    monkeypatch.setattr("sottovoce.release.classify.inputs.BLOCK_CELLS", 250 * WORDS)
    monkeypatch.setattr("sottovoce.release.classify.inputs.SAMPLED_CELLS", 300 * WORDS)
    monkeypatch.setattr("sottovoce.release.classify.inputs._FEWEST", 300)


def test_memory_does_not_grow_with_the_documents(small_rooms: None) -> None:
    peaks = []
    for documents in (500, 3_000):
        released = LongRelease(documents)
        tracemalloc.start()
        fit_released(released, released.labels)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Labels, their numbers and an order of the documents are 60 bytes of each; its cells are 360.
    assert peaks[1] - peaks[0] < 60 * 2_500


def test_blocks_say_what_the_whole_matrix_does(monkeypatch: pytest.MonkeyPatch) -> None:
    released = LongRelease(_MADE)
    whole = PrivateNaiveBayes(1.0).fit(released.rows.made(), released.labels)
    monkeypatch.setattr("sottovoce.release.classify.inputs.BLOCK_CELLS", 7 * WORDS)
    blocks = PrivateNaiveBayes().fit(released, released.labels)
    assert blocks.held_out_loss_ == pytest.approx(whole.held_out_loss_)
    tested = np.eye(WORDS, dtype=np.int64)
    assert blocks.predict_proba(tested) == pytest.approx(whole.predict_proba(tested))


def test_a_sample_by_chance_has_every_class_where_labels_come_in_turns(small_rooms: None) -> None:
    rows = LongRows(2_000, NoiseLaw(1.0))
    sample = LabelledRows(rows, np.arange(2_000) % 2, 2, seed=0).sample
    assert sample.documents.documents == 300
    assert 0.35 < sample.documents.codes.mean() < 0.65
    found = sample.documents.cells.toarray()
    agree = found[:, ::2].sum(axis=1) > found[:, 1::2].sum(axis=1)
    assert np.mean(agree == (sample.documents.codes == 0)) > 0.8


def test_a_file_with_few_cells_is_sampled_by_how_many_it_has(
    small_rooms: None, tmp_path: Path
) -> None:
    """Not by how many there would be if none were 0."""
    cells = sparse.csr_array((np.ones(1_000, np.int64), (np.arange(1_000), np.arange(1_000) % 40)))
    (tmp_path / "counts.npz").write_bytes(matrix_bytes(cells))
    codes = np.arange(1_000) % 2
    sample = LabelledRows(CountsFile(tmp_path / "counts.npz"), codes, 2, seed=0).sample
    assert sample.documents.documents == 1_000
    assert np.array_equal(sample.documents.cells.toarray(), cells.toarray())

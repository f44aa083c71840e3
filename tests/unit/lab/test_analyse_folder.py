"""The released folders of the bench that reads topics, and the memory of reading one."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab.bench._analyse_folder import longer_folder, main, reading_memory, released_folder

from sottovoce.release.release import load_release


def _folder(place: Path) -> Path:
    counts = sparse.csr_array(np.random.default_rng(0).poisson(2.0, (30, 8)))
    return released_folder(counts, 1.0, place / "released")


def test_a_longer_release_is_the_shorter_one_over_and_over(tmp_path: Path) -> None:
    short = load_release(_folder(tmp_path))
    long = load_release(longer_folder(tmp_path / "released", 3, tmp_path / "longer"))
    assert (short.law.rate, long.law.rate, long.card.documents) == (1.0, 1.0, 90)
    assert np.array_equal(long.counts.toarray(), np.tile(short.counts.toarray(), (3, 1)))


def test_the_process_prints_the_most_memory_it_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(str(_folder(tmp_path)), "2")
    assert int(capsys.readouterr().out) > 10_000_000


@pytest.mark.long
def test_memory_is_that_of_a_process_of_its_own(tmp_path: Path) -> None:
    assert 10_000_000 < reading_memory(_folder(tmp_path), 2) < 1_000_000_000

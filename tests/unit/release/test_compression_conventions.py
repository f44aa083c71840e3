"""Every compression keeps scikit-learn's conventions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.utils.estimator_checks import check_estimator

from sottovoce.release.compression.embedding import (
    EmbeddingClusterCompression,
    EmbeddingDisperseCompression,
)
from sottovoce.release.compression.frequency import FrequencyCompression
from sottovoce.release.compression.maps import Compression, NoCompression, RandomCompression


class KnowsEveryWord:
    """A vector for any word, from its length and letters."""

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        rows = [[len(word), *np.frombuffer(word.encode()[-2:], np.uint8)] for word in words]
        return np.array(rows, dtype=float), np.ones(len(words), dtype=bool)


@pytest.fixture
def whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scikit-learn round the data of its checks, as it does for categories."""
    tags_of = Compression.__sklearn_tags__

    def rounded(self: Compression) -> Any:  # noqa: ANN401  # scikit-learn has no types
        tags: Any = tags_of(self)
        tags.input_tags.categorical = True
        return tags

    monkeypatch.setattr(Compression, "__sklearn_tags__", rounded)


CASES: dict[str, Compression] = {
    "none": NoCompression(),
    "random": RandomCompression(1),
    "frequency": FrequencyCompression(1, frequencies="ordered"),
    "cluster": EmbeddingClusterCompression(1, embedding=KnowsEveryWord()),
    "disperse": EmbeddingDisperseCompression(1, embedding=KnowsEveryWord()),
}


@pytest.mark.parametrize("name", CASES)
def test_scikit_learn_accepts_every_compression(name: str, whole_numbers: None) -> None:
    reports = check_estimator(CASES[name], on_skip=None)
    assert len(reports) > 30

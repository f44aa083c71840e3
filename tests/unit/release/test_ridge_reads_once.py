"""Ridge regression sums released documents in one pass: a release may be longer than memory."""

from collections.abc import Iterator

import numpy as np
import pytest

from sottovoce.release.classify import PrivateRidge
from sottovoce.release.classify._inputs import Labelled
from sottovoce.release.classify._rows import LabelledRows


def test_ridge_sums_the_documents_of_a_release_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passes, parts = [], LabelledRows.parts

    def counted(self: LabelledRows) -> Iterator[tuple[int, Labelled]]:
        passes.append(1)
        return parts(self)

    monkeypatch.setattr(LabelledRows, "parts", counted)
    kinds = np.arange(60) % 2
    cells = np.random.default_rng(0).poisson(np.where(kinds[:, None] == 1, [2, 0.2], [0.2, 2]))
    PrivateRidge(rate=1.0).fit(cells, kinds)
    assert len(passes) == 1

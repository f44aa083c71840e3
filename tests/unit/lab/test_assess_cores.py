"""A bench of threads compares nothing whose results depend on them."""

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab.bench._assess_cores import (
    CoreCase,
    counts_digest,
    memory_rows,
    one_domain,
    same_digest,
    serial_share,
)
from sottovoce_lab.query_log import QueryLog
from sottovoce_lab.scale import Workload

from sottovoce.errors import CheckFailedError


def test_results_that_depend_on_the_threads_are_refused() -> None:
    case = CoreCase("made up", 1, lambda threads: threads, lambda result, _: f"{result % 2}")
    assert same_digest(case, [1, 3]) == "1"
    with pytest.raises(CheckFailedError, match="depend on the number of threads"):
        same_digest(case, [1, 2])


def test_every_topic_is_sensitive_and_of_one_domain() -> None:
    before = Workload(QueryLog(10, 5, 4)).catalogue
    after = one_domain(before)
    assert {topic.domain for topic in after} == {"one"}
    assert len(after.sensitive) == len(before) == 4
    assert after.model == before.model


def test_memory_is_measured_beside_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce_lab.bench._assess_cores.available_cores", lambda: 2)
    (row,) = memory_rows(0.0, numbers=1000)
    assert row["unit"] == "GB/s"
    assert row["theirs"] is not None
    assert row["ours"] > 0


def test_the_serial_share_is_what_amdahl_s_law_makes_of_a_gain() -> None:
    for threads, share in ((2, 0.0), (2, 0.25), (8, 0.1), (16, 1.0)):
        gain = 1 / (share + (1 - share) / threads)
        assert serial_share(threads, gain) == pytest.approx(share)
    assert serial_share(2, 2.1) == 0.0
    assert serial_share(2, 0.9) == 1.0


def test_a_digest_of_counts_does_not_depend_on_how_rows_are_cut() -> None:
    counts = sparse.csr_array(np.random.default_rng(2).integers(0, 3, (9, 5)))
    wanted = counts_digest([counts])
    assert counts_digest([counts[:4], counts[4:]]) == wanted
    assert counts_digest([counts[1:], counts[:1]]) != wanted

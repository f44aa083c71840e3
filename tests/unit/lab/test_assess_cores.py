"""A bench of threads compares nothing whose results depend on them."""

import pytest

from sottovoce.corpus.simulate._query_log import QueryLog
from sottovoce.errors import CheckFailedError
from sottovoce.lab.bench._assess_cores import CoreCase, memory_rows, one_domain, same_digest
from sottovoce.lab.scale._measure import Workload


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
    monkeypatch.setattr("sottovoce.lab.bench._assess_cores.available_cores", lambda: 2)
    (row,) = memory_rows(0.0, numbers=1000)
    assert row["unit"] == "GB/s"
    assert row["theirs"] is not None
    assert row["ours"] > 0

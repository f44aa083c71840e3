"""The classifier of ``study learn-count`` between real processes, small."""

import json
from collections.abc import Callable

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.long
def test_processes_count_what_the_classifier_needs(run_study: Run) -> None:
    asked = ("learn-count", "--quick", "--readers", "processes", "--documents", 2_000)
    code, out, _ = run_study(*asked, "--json")
    assert code == 0
    (row,) = json.loads(out)
    assert (row["reader"], row["score"], row["parties"]) == ("chosen, processes", "error", 4)
    assert row["mean"] < 0.3

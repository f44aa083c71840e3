"""Memory does not grow with the number of posts, only with users, weeks and topics."""

import sys
from functools import cache
from pathlib import Path

import pytest
from support.warm_python import run_warm

SCRIPT = Path(__file__).with_name("peak_assess.py")


def measured_mib(batches: int) -> float:
    """The peak memory of a fresh process that scores ``batches`` batches."""
    command = [sys.executable, str(SCRIPT), str(batches)]
    done = run_warm(command, check=True)
    posts, peak = done.stdout.split()
    assert int(posts) == 20_000 * batches
    return float(peak)


peak_mib = cache(measured_mib)


def test_three_times_the_posts_need_no_more_memory() -> None:
    assert peak_mib(78) <= 1.08 * peak_mib(26)


@pytest.mark.long
def test_ten_times_the_posts_need_no_more_memory() -> None:
    # On a busy machine more pieces wait for each other; what grew with posts would grow each time.
    assert min(measured_mib(260) for _ in range(3)) <= 1.08 * peak_mib(26)


def test_more_weeks_do_need_more_memory() -> None:
    """So the comparison above could fail: state that is not full yet grows."""
    assert peak_mib(26) > 1.08 * peak_mib(2)

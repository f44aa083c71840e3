"""A bench of threads compares nothing whose results depend on them."""

import pytest
from sottovoce_lab.bench._assess_cores import CoreCase, same_digest, serial_share

from sottovoce.errors import CheckFailedError


def test_results_that_depend_on_the_threads_are_refused() -> None:
    case = CoreCase("made up", 1, lambda threads: threads, lambda result, _: f"{result % 2}")
    assert same_digest(case, [1, 3]) == "1"
    with pytest.raises(CheckFailedError, match="depend on the number of threads"):
        same_digest(case, [1, 2])


def test_the_serial_share_is_what_amdahl_s_law_makes_of_a_gain() -> None:
    for threads, share in ((2, 0.0), (2, 0.25), (8, 0.1), (16, 1.0)):
        gain = 1 / (share + (1 - share) / threads)
        assert serial_share(threads, gain) == pytest.approx(share)
    assert serial_share(2, 2.1) == 0.0
    assert serial_share(2, 0.9) == 1.0

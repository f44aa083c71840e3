"""A count over a bad wire ends with exactly what those who are left gave, or with a named error."""

from collections import Counter

import numpy as np
import pytest
from support.counts import counting

from sottovoce.errors import ProtocolError
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.wire.exchange import Exchange, Faults

RUNS = 15


def outcome(seed: int) -> str:
    run = counting(5, drop=1, collude=1)
    parties = run.parties()
    faults = Faults(drop=0.01, duplicate=0.1, reorder=0.2, flip=0.01, seed=seed)
    try:
        Exchange(parties, faults=faults).run()
    except ProtocolError as error:
        return type(error).__name__
    given = run.spending._kept  # type: ignore[attr-defined] # what each peer drew
    for party in parties:
        counted = TogetherCounts.from_record(party.result())
        names = [f"count {run.session.hex()} {name}" for name in counted.survivors]
        assert len(names) >= 4
        assert np.array_equal(counted.totals, sum(given[name] for name in names))
    return f"{len(names)} left"


def test_every_end_is_the_exact_sum_or_a_named_error() -> None:
    ends = Counter(outcome(seed) for seed in range(RUNS))
    assert set(ends) <= {"5 left", "4 left", "StalledError", "TooFewPartiesError"}
    assert ends["5 left"] > RUNS // 4


@pytest.mark.parametrize("step", [1, 3, 5, 7, 9])
def test_a_peer_may_be_lost_at_any_step(step: int) -> None:
    run = counting(4, drop=1, collude=1)
    counted = run.run(lost={"peer2": step})
    # Who has given its numbers is in the sum, whether it stays to the end or not.
    assert ("peer2" in counted.survivors) == (step > 5)

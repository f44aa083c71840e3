"""What tests of benches and studies share."""

import pytest
from sottovoce_lab.bench.rows import best_times


@pytest.fixture(autouse=True)
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each work is timed once: tests look at which rows there are, not at which is fastest."""
    defaults = best_times.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "rounds", 1)

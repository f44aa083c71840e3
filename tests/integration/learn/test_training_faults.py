"""Whatever goes wrong between the parties, a training that ends is the plain one."""

from typing import Any

import numpy as np
import pytest
from support.chance import drawn_once
from support.trainings import hidden_integers, quick_training, small_peers

from sottovoce.errors import SottovoceError
from sottovoce.learn import train
from sottovoce.learn.wire.exchange import Faults

PEERS = small_peers(peers=4, width=3)
PLAIN = train(PEERS, penalty=0.1)
KINDS: dict[str, dict[str, Any]] = {
    "dropped": {"drop": 0.005},
    "doubled": {"duplicate": 0.3},
    "shuffled": {"reorder": 0.3},
    "flipped": {"flip": 0.005},
    "all of it": {"drop": 0.002, "duplicate": 0.2, "reorder": 0.2, "flip": 0.002},
}
UNENDING = {"doubled", "shuffled"}
HIDDEN: dict[str, Any] = {"mode": "hidden", "fraction_bits": 16}


def ended(faults: Faults, **options: Any) -> Any:  # noqa: ANN401 - whatever it is given
    """The trained classifier, or None where the run was ended by a named error."""
    try:
        with quick_training(PEERS, faults=faults, penalty=0.1, **options) as trained:
            return trained
    except SottovoceError:
        return None


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_open_training_that_ends_is_the_plain_one(kind: str) -> None:
    # Two kinds end no run, and so need fewer. An open training has most messages.
    seeds = range(3 if kind in UNENDING else 6)
    fewer = {name: chance if chance > 0.1 else chance / 4 for name, chance in KINDS[kind].items()}
    runs = [ended(Faults(seed=seed, **fewer)) for seed in seeds]
    finished = [trained for trained in runs if trained is not None]
    for trained in finished:
        np.testing.assert_array_equal(trained.coef_, PLAIN.coef_)
        assert trained.intercept_ == PLAIN.intercept_
    assert finished, "every run ended in an error, so that nothing was compared"
    if kind in UNENDING:
        assert len(finished) == len(runs)  # these two cost nothing but patience


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_hidden_training_that_ends_is_the_plain_one(kind: str) -> None:
    # A lost message ends most runs.
    seeds = range(20, 22 if kind in UNENDING else 26)
    runs = [ended(Faults(seed=seed, **KINDS[kind]), **HIDDEN) for seed in seeds]
    finished = [trained for trained in runs if trained is not None]
    for trained in finished:
        assert shares_opened(trained) == plain_shares()
    assert finished, "every run ended in an error, so that nothing was compared"


@drawn_once
def plain_shares() -> list[float]:
    return shares_opened(ended(Faults(), **HIDDEN))


def shares_opened(trained: Any) -> list[float]:  # noqa: ANN401 - whatever it is given
    """The direction of theta: y over its largest number, whatever the prime was."""
    return [float(each) for each in hidden_integers(trained, "peer0")]

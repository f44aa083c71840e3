"""Whatever goes wrong between the parties, a training that ends is the plain one."""

from typing import Any

import numpy as np
import pytest
from support.chance import drawn_once
from support.text_runs import GIVEN, made_holdings, made_peers, made_terms
from support.trainings import hidden_integers, quick_training, small_peers

from sottovoce.arrays import Floats
from sottovoce.errors import SottovoceError, StalledError, TooFewPartiesError
from sottovoce.learn import train
from sottovoce.learn.features import Features
from sottovoce.learn.run.classify import models
from sottovoce.learn.run.party import run_in_process
from sottovoce.learn.run.records import read_trained
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


TEXTS = made_peers(documents=30)
MESSAGES = 14


@drawn_once
def alone(names: tuple[str, ...]) -> Floats:
    """The coefficients of these peers' training by themselves."""
    left = {name: TEXTS[name] for name in names}
    rows = {n: (Features(GIVEN).rows(each.texts), each.labels or ()) for n, each in left.items()}
    found: Floats = train(rows, penalty=0.1).coef_[0]
    return found


def ended_without_dee(silent_from: int) -> str:
    terms = made_terms(text=GIVEN, recipe={"penalty": 0.1}, labels=("ham", "spam"))
    faults = Faults(silent_from={"dee": silent_from})
    try:
        done = run_in_process(terms, made_holdings(TEXTS), faults=faults)
    except (TooFewPartiesError, StalledError) as error:
        return type(error).__name__
    result = read_trained(done.results["ada"])
    (model,) = models(result)
    np.testing.assert_array_equal(model.coefficients, alone(result.peers))
    return f"among {len(result.peers)}"


def test_whoever_is_lost_leaves_the_right_classifier_or_a_named_end() -> None:
    found = [ended_without_dee(at) for at in range(MESSAGES)]
    assert "among 3" in found, "before the features are chosen the others go on"
    after = found.index("among 3") + found.count("among 3")
    assert found[after] == "StalledError", "afterwards all must sign what is kept"
    assert set(found) <= {"among 3", "among 4", "TooFewPartiesError", "StalledError"}


def test_with_everybody_there_all_are_counted() -> None:
    assert ended_without_dee(1 << 20) == "among 4"

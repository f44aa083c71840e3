"""A peer falls silent for good at each of its messages: the others' right result, or a name."""

import numpy as np
from support.chance import drawn_once
from support.text_runs import GIVEN, made_holdings, made_peers, made_terms

from sottovoce.arrays import Floats
from sottovoce.errors import StalledError, TooFewPartiesError
from sottovoce.learn import train
from sottovoce.learn.features import Features
from sottovoce.learn.run.classify import models
from sottovoce.learn.run.party import run_in_process
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.wire.exchange import Faults

PEERS = made_peers(documents=30)
MESSAGES = 14


@drawn_once
def alone(names: tuple[str, ...]) -> Floats:
    """The coefficients of these peers' training by themselves."""
    left = {name: PEERS[name] for name in names}
    rows = {n: (Features(GIVEN).rows(each.texts), each.labels or ()) for n, each in left.items()}
    found: Floats = train(rows, penalty=0.1).coef_[0]
    return found


def ended(silent_from: int) -> str:
    terms = made_terms(text=GIVEN, recipe={"penalty": 0.1}, labels=("ham", "spam"))
    faults = Faults(silent_from={"dee": silent_from})
    try:
        done = run_in_process(terms, made_holdings(PEERS), faults=faults)
    except (TooFewPartiesError, StalledError) as error:
        return type(error).__name__
    result = read_trained(done.results["ada"])
    (model,) = models(result)
    np.testing.assert_array_equal(model.coefficients, alone(result.peers))
    return f"among {len(result.peers)}"


def test_whoever_is_lost_leaves_the_right_classifier_or_a_named_end() -> None:
    found = [ended(at) for at in range(MESSAGES)]
    assert "among 3" in found, "before the features are chosen the others go on"
    after = found.index("among 3") + found.count("among 3")
    assert found[after] == "StalledError", "afterwards all must sign what is kept"
    assert set(found) <= {"among 3", "among 4", "TooFewPartiesError", "StalledError"}


def test_with_everybody_there_all_are_counted() -> None:
    assert ended(1 << 20) == "among 4"

"""Alerts say who entered a band, once, and do not flicker at its border."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from support.communities import CATALOGUE

from sottovoce.assess import Measure, State
from sottovoce.assess.alerts import MEMBERS, check_bands
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.errors import ParameterError

USERS = 100


def check(
    scores: Sequence[float], before: pa.Table | None = None, hysteresis: float = 0.5
) -> tuple[list[str], list[str], pa.Table]:
    """Who entered and left the top 10% when users have these scores."""
    state = State(plan_scoring(CATALOGUE, [], ("bow",))[1].header)
    state.rows(pa.array([f"u{number:02}" for number in range(len(scores))]))
    measure = Measure(lambda _state, _topic, _setting: np.array(scores, np.float64), "bow")
    changes, members = check_bands(
        state,
        {"given": measure},
        MEMBERS.empty_table() if before is None else before,
        topics=["debts"],
        bands=(10,),
        hysteresis=hysteresis,
    )
    rows = changes.to_pylist()
    entered = [row["user"] for row in rows if row["entered"]]
    return entered, [row["user"] for row in rows if not row["entered"]], members


def ranked(*first: int) -> list[float]:
    """Scores that put ``first`` on top, in this order, then everybody by number."""
    order = [*first, *(number for number in range(USERS) if number not in first)]
    scores = [0.0] * USERS
    for place, number in enumerate(order):
        scores[number] = float(USERS - place)
    return scores


def test_all_in_the_band_enter_at_the_first_check_and_none_at_the_second() -> None:
    entered, left, members = check(ranked())
    assert entered == [f"u{number:02}" for number in range(10)]
    assert left == []
    assert check(ranked(), members)[:2] == ([], [])


def test_a_user_who_overtakes_enters_and_who_is_overtaken_stays_within_the_hysteresis() -> None:
    members = check(ranked())[2]
    entered, left, members = check(ranked(50), members)
    assert (entered, left) == (["u50"], [])
    # u09 is at place 11 and stays; back in front of the border she does not enter again.
    assert check(ranked(), members)[:2] == ([], ["u50"])


def test_beyond_the_hysteresis_a_user_leaves() -> None:
    members = check(ranked())[2]
    entered, left, _ = check(ranked(50, 51, 52, 53, 54, 55), members)
    assert entered == ["u50", "u51", "u52", "u53", "u54", "u55"]
    # Places 11 to 15 are within 10% * 1.5; place 16 is not.
    assert left == ["u09"]


def test_without_hysteresis_who_is_overtaken_leaves_at_once() -> None:
    members = check(ranked())[2]
    assert check(ranked(50), members, hysteresis=0)[:2] == (["u50"], ["u09"])


def test_bands_that_were_not_checked_are_remembered() -> None:
    other = pa.Table.from_pylist(
        [{"measure": "bow", "topic": "hiv", "percent": 1, "user": "x"}], MEMBERS
    )
    assert check(ranked(), other)[2].slice(10).equals(other)


@pytest.mark.parametrize("hysteresis", [-0.1, float("nan"), float("inf")])
def test_a_hysteresis_out_of_bounds_is_refused(hysteresis: float) -> None:
    with pytest.raises(ParameterError, match="hysteresis must be >= 0"):
        check(ranked(), hysteresis=hysteresis)

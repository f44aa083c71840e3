"""Strength: how close the closest post comes to the topic, in a vector space."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.assess.measures.measure import Measure, Scores, measure_space
from sottovoce.assess.setting import Setting

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State

_LIFTS = {
    "bow": ((7.5, 0.52), (5.7, 0.25), (3.9, 0.19)),
    "voice": ((5.6, 0.53), (3.8, 0.20), (3.8, 0.13)),
    "voice-s": ((4.6, 0.57), (3.8, 0.21), (3.5, 0.14)),
}


def strength_risk(strongest: Scores, topic: int) -> Scores:
    """The largest cos(P, X) over a user's posts, for all users at once.

    R-Susceptibility, Definition 5, of the user vectors of R-Susceptibility, Definition 4.
    ``strongest`` is users x topics, the maxima over all posts. Range [-1, 1].
    """
    return strongest[:, topic].copy()


def score_strength(space: str, state: "State", topics: Sequence[str], _setting: Setting) -> Scores:
    """Topics x users: the strength of interest."""
    strongest = state.strongest(space)
    return np.array([strength_risk(strongest, state.column(topic)) for topic in topics])


def measure_strength(space: str) -> Measure:
    """The measure that is called as its space."""
    return measure_space(score_strength, space, "", _LIFTS.get(space, ()))

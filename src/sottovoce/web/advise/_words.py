"""Standings in sentences that a person understands."""

import math

from sottovoce.advisor.standing import REST, Standing
from sottovoce.assess.measures.catalogue import MEASURES

_TEN, _A_MILLION = math.log(10), math.log(10**6)
LEARNT_FROM_MADE_UP = (
    " This ranking has learnt from made-up texts which words count: do not trust it on real posts."
)


def measure_in_words(measure: str) -> str:
    """A measure in a few words."""
    return MEASURES[measure].wording or measure


def factor_in_words(epsilon: float) -> str:
    """How many times likelier an outcome becomes: e to the epsilon."""
    if epsilon > _A_MILLION:
        return "more than a million"
    factor = math.exp(epsilon)
    return f"{factor:.1f}" if epsilon < _TEN else f"{factor:,.0f}"


def place_sentence(standing: Standing) -> str:
    """Where a reader of the whole community would list them, in one sentence."""
    if standing.low is None or standing.high is None:
        return "Without these posts you would not be in the community, and nobody could list you."
    if standing.users == 1:
        return f"Nobody else is known for {standing.topic} yet, so you have no place."
    if not standing.evident:
        return (
            f"The ranking finds nothing about {standing.topic} in your posts, so you have no place."
        )
    whom = "this community by how much its members write"
    if standing.simulated:
        whom = f"you and {standing.users - 1:,} made-up people by how much each writes"
    return (
        f"Someone who ranked {whom} about {standing.topic} would list you {places(standing)} of "
        f"{standing.users:,}{_ending(standing)}."
    )


def crowd(standing: Standing) -> str:
    """Whom the strip shows, and that they do not exist where they do not."""
    order = "from the one a ranking finds first, on the left, to the last"
    if not standing.simulated:
        return f"The whole community, {order}; the first few percent are drawn wider."
    return (
        f"You and {standing.users - 1:,} made-up people, who do not exist, {order}; the first "
        "few percent are drawn wider. Among real people your place may be very different."
        f"{LEARNT_FROM_MADE_UP if MEASURES[standing.measure].is_voice else ''}"
    )


def doubt(standing: Standing) -> str | None:
    """How far their place is uncertain; None when there is nothing to say."""
    found = standing.uncertainty
    if found is None or standing.low is None or standing.high is None or standing.users == 1:
        return None
    if standing.unsure:
        return (
            f"What is known of the others leaves it open: you may be {in_words(standing.best_band)}"
            f" or only {in_words(standing.band)}."
        )
    if found.posts == 1:
        return "That rests on a single post."
    if (found.low, found.high) == (standing.low, standing.high):
        return "It would be the same without any one of your posts."
    return f"Without one of your posts it would be between place {found.low:,} and {found.high:,}."


def _ending(standing: Standing) -> str:
    """The band, as far as it is known."""
    if not standing.unsure:
        return f": {in_words(standing.band)}"
    if standing.band == REST:
        return "; in which band that is cannot be told"
    return f", surely {in_words(standing.band)}"


def in_words(band: str) -> str:
    """``in the first 5%`` for ``top 5%``."""
    if band == REST:
        return "in the lower half, among those least exposed"
    return "in the first " + band.removeprefix("top ")


def chip(standing: Standing) -> str:
    """The band in a few words."""
    if not standing.present:
        return "not listed"
    if standing.users == 1:
        return "nobody else known"
    if not standing.evident:
        return "not seen by the ranking"
    if standing.unsure:
        wide = standing.band == REST
        return "cannot be told" if wide else "within " + in_words(standing.band).removeprefix("in ")
    return standing.band if standing.band == REST else "first " + standing.band.removeprefix("top ")


def change(before: Standing, after: Standing) -> str:
    """What would change, in one sentence."""
    if before.low is None or before.high is None or after.low is None or after.high is None:
        return place_sentence(after)
    if (before.low, before.high) == (after.low, after.high):
        return f"Your place for {after.topic} would stay the same: {places(after)}."
    way = "less" if after.high > before.high or after.low > before.low else "more"
    bands = "" if before.band == after.band else _then(after)
    return (
        f"For {after.topic} you would be {way} exposed: {places(after)} instead of "
        f"{places(before)} of {after.users:,}{bands}."
    )


def _then(standing: Standing) -> str:
    if standing.unsure:
        known = standing.band != REST
        return f", and you would surely be {in_words(standing.band)}" if known else ""
    return f", and you would be {in_words(standing.band)}"


def places(standing: Standing) -> str:
    """``at place 12``, or between which ones those who score alike are."""
    low, high = standing.low or 0, standing.high or 0
    return f"at place {low:,}" if low == high else f"between place {low:,} and {high:,}"


def short_places(standing: Standing) -> str:
    """``12``, or ``12 to 15``, for a table."""
    if standing.low is None or standing.high is None:
        return "-"
    low, high = f"{standing.low:,}", f"{standing.high:,}"
    return low if low == high else f"{low} to {high}"

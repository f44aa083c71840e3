"""Whom an adversary finds first for each sensitive topic, and who they are in truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.ranking import BANDS
from sottovoce.report.figures import COLOURS, new_figure
from sottovoce.report.page import Plot

AFFLICTED = "afflicted"
PERSONAS = (AFFLICTED, "supporter", "curious", "professional", "bystander")
FIRST, DRAWN_BAND = 5, 5


@dataclass(frozen=True, eq=False)
class TopicRanking:
    """All users for one topic, the most exposed first."""

    topic: str
    users: tuple[str, ...]
    personas: NDArray[np.str_]
    bands: NDArray[np.str_]

    def personas_in_top(self, percent: int) -> NDArray[np.str_]:
        """The personas of those in the top ``percent``, narrower bands included."""
        names = [f"top {narrower}%" for narrower in BANDS if narrower <= percent]
        return self.personas[np.isin(self.bands, names)]

    def count_afflicted_in_top(self, percent: int) -> int:
        """How many of those in the top ``percent`` the topic afflicts."""
        return int((self.personas_in_top(percent) == AFFLICTED).sum())


def band_facts(rankings: Sequence[TopicRanking]) -> dict[str, str]:
    """For each band, how many of its places go to the afflicted, all topics together."""
    facts = {}
    for percent in BANDS:
        places = sum(len(ranking.personas_in_top(percent)) for ranking in rankings)
        afflicted = sum(ranking.count_afflicted_in_top(percent) for ranking in rankings)
        share = f" ({afflicted / places:.0%})" if places else ""
        told = f"{places:,} places, {afflicted:,} of people concerned{share}"
        facts[f"In the top {percent}%"] = told
    facts["By chance"] = f"{chance(rankings):.0%} of any places would go to them"
    return facts


def chance(rankings: Sequence[TopicRanking]) -> float:
    """The share of the afflicted among all users, over topics."""
    return float(np.mean([(ranking.personas == AFFLICTED).mean() for ranking in rankings]))


def ranking_table(rankings: Sequence[TopicRanking]) -> tuple[tuple[str, ...], ...]:
    """A row for each topic: how many are in each band, and who stands first."""
    bands = (f"people concerned in the top {percent}%" for percent in BANDS)
    head = ("topic", *bands, f"the first {FIRST}, and who they are in truth")
    return (head, *(_row(ranking) for ranking in rankings))


def _row(ranking: TopicRanking) -> tuple[str, ...]:
    bands = (
        f"{ranking.count_afflicted_in_top(percent)} of {len(ranking.personas_in_top(percent))}"
        for percent in BANDS
    )
    first = zip(ranking.users[:FIRST], ranking.personas[:FIRST], strict=True)
    return (ranking.topic, *bands, ", ".join(f"{user} ({persona})" for user, persona in first))


def band_plot(rankings: Sequence[TopicRanking]) -> Plot:
    """Who is in the top 5% of each topic, by persona."""
    figure, axes = new_figure(height=1.2 + 0.36 * len(rankings))
    counts = {
        persona: np.array([int((r.personas_in_top(DRAWN_BAND) == persona).sum()) for r in rankings])
        for persona in PERSONAS
    }
    left = np.zeros(len(rankings))
    for (persona, number), colour in zip(counts.items(), COLOURS, strict=False):
        axes.barh(range(len(rankings)), number, left=left, color=colour, label=persona)
        left = left + number
    axes.set(yticks=range(len(rankings)), xlabel=f"people in the top {DRAWN_BAND}%")
    axes.set_yticklabels([ranking.topic for ranking in rankings])
    axes.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=len(counts), frameon=False)
    finding = _band_finding({persona: int(number.sum()) for persona, number in counts.items()})
    return Plot(figure, finding, f"Stacked bars, one for each topic. {finding}")


def _band_finding(places: dict[str, int]) -> str:
    total = sum(places.values())
    if not total:
        return f"Too few people for a top {DRAWN_BAND}%."
    each = ", ".join(f"{persona} {number}" for persona, number in places.items())
    afflicted = places[AFFLICTED] / total
    return (
        f"{afflicted:.0%} of the {total:,} places in the top {DRAWN_BAND}% go to people whom the "
        f"topic concerns, {1 - afflicted:.0%} to others: {each}."
    )

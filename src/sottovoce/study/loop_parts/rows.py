"""From what every community gave to one row a setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.assess.evaluation import JudgedTopic
from sottovoce.release.intervals import mean_interval
from sottovoce.study.loop_parts.adversary import View
from sottovoce.study.loop_parts.exposure import SHARES
from sottovoce.study.loop_parts.rounds import Outcome
from sottovoce.study.loop_parts.settings import PrivacySetting
from sottovoce.study.result import Row

FOUND, KEPT = "r_precision", f"overlap_{SHARES[1]}"
"""What decides which adversary is the worst: with a truth, and without."""
_DRAWS = 200


@dataclass(frozen=True)
class Worst:
    """The adversary who does best, on average over communities: the one to reckon with."""

    view: View
    numbers: Mapping[str, Sequence[float]]
    """What he reaches in each community."""


def worst_adversary(outcomes: Sequence[Outcome]) -> Worst:
    """Chosen once for all communities, so that luck in one of them counts little."""
    views = list(outcomes[0].exposure)
    decides = deciding(outcomes[0])
    best = max(views, key=lambda view: np.mean([each.exposure[view][decides] for each in outcomes]))
    names = outcomes[0].exposure[best]
    return Worst(best, {name: [each.exposure[best][name] for each in outcomes] for name in names})


def deciding(outcome: Outcome) -> str:
    """The share of the afflicted who are found; where nobody knows them, of those found before."""
    return FOUND if FOUND in next(iter(outcome.exposure.values())) else KEPT


def setting_row(setting: PrivacySetting, outcomes: Sequence[Outcome]) -> Row:
    """One setting: what it promises, what the worst adversary sees, what it is good for."""
    worst, decides = worst_adversary(outcomes), deciding(outcomes[0])
    guarantee = setting.guarantee
    row: Row = {
        "method": setting.method,
        "compression": setting.compression,
        "columns": setting.columns,
        "precision": None if guarantee is None else setting.precision,
        "epsilon": None if guarantee is None else str(setting.epsilon),
        "rate": setting.noise_rate,
        "guarantee": "none" if guarantee is None else str(guarantee),
        "worst_adversary": ", ".join(worst.view),
    }
    useful = {name: [each.useful[name] for each in outcomes] for name in outcomes[0].useful}
    for name, values in {**worst.numbers, **useful}.items():
        row |= _summary(name, values)
    for view, numbers in outcomes[0].exposure.items():
        reached = [each.exposure[view][decides] for each in outcomes]
        row[f"{decides}: {', '.join(view)}"] = float(np.mean(reached)) if numbers else None
    return row | {"seeds": len(outcomes)}


def _summary(name: str, values: Sequence[float]) -> Row:
    """A mean and its interval; of one community there is none."""
    interval = mean_interval(values)
    if len(values) == 1:
        return {name: interval.mean}
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


def luckiest_chance(judged: Sequence[Sequence[JudgedTopic]], views: int) -> float:
    """What the best of ``views`` random orders reaches, on average, over these communities.

    The worst adversary is picked after the fact, so that even pure noise beats plain chance by
    this much.
    """
    generator = np.random.default_rng(0)
    best = [
        max(np.mean([_random_hits(own, generator) for own in judged]) for _ in range(views))
        for _ in range(_DRAWS)
    ]
    return float(np.mean(best))


def _random_hits(judged: Sequence[JudgedTopic], generator: np.random.Generator) -> float:
    sensitive = [int(topic.sensitive.sum()) for topic in judged]
    hits = [
        generator.hypergeometric(found, len(topic.users) - found, found)
        for found, topic in zip(sensitive, judged, strict=True)
    ]
    return float(sum(hits) / sum(sensitive))

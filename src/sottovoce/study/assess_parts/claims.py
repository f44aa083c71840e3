"""What the paper says of its tables, held against ours: each claim holds, or it does not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sottovoce.assess.evaluation.baselines import RANDOM
from sottovoce.release.intervals import Interval, mean_interval
from sottovoce.study.assess_parts.outcomes import Outcome
from sottovoce.study.assess_parts.rows import VARIANTS
from sottovoce.study.assess_parts.summaries import differences

Value = Callable[[Outcome, str], float]
Verdict = Literal["Holds", "Not clear", "Does not hold"]
"""Not clear: the 95% interval of the difference has 0 inside."""


@dataclass(frozen=True)
class Claim:
    """A sentence, whether our numbers bear it out, and these."""

    says: str
    verdict: Verdict
    seen: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.says} ({self.seen})."


def strength_claims(outcomes: Sequence[Outcome], spaces: Sequence[str]) -> list[Claim]:
    """Topical strength finds the sensitive better than ENT and DIFF-PRIV (Section 5.2)."""
    return [
        _above(outcomes, space, rival, _metric("map"), f"{space} has a higher MAP than {rival}")
        for space in spaces
        for rival in ("ent", "diff-priv")
    ]


def persona_claims(outcomes: Sequence[Outcome], spaces: Sequence[str]) -> list[Claim]:
    """-D lowers those who are at work in the field, -T those who are curious for a while."""
    pairs = [("-d", "professional"), ("-dt", "professional"), ("-t", "curious"), ("-dt", "curious")]
    return [
        _above(
            outcomes,
            space,
            f"{space}{variant}",
            _relative(persona),
            f"{space}{variant} puts the {persona} lower against the afflicted than {space}",
        )
        for space in spaces
        for variant, persona in pairs
    ]


def best_claims(outcomes: Sequence[Outcome], spaces: Sequence[str]) -> list[Claim]:
    """-DT has the best NDCG of its space, and its interval is clear of strength's."""
    found = []
    for space in spaces:
        found.append(_best(outcomes, space))
        found.append(_clear(outcomes, space))
    return found


def control_claims(outcomes: Sequence[Outcome], spaces: Sequence[str]) -> list[Claim]:
    """Where personas differ in name only, no measure gains anything."""
    names = [f"{space}{variant}" for space in spaces for variant in VARIANTS]
    gains = {name: _gain(outcomes, name, RANDOM, _metric("map")) for name in names}
    found = [name for name, gain in gains.items() if gain.low > 0]
    highest = max(gains, key=lambda name: gains[name].mean)
    claims = [
        Claim(
            "in the control no measure has a higher MAP than chance",
            "Does not hold" if found else "Holds",
            f"the highest gain is {highest}'s, {_shown(gains[highest])}"
            + (f"; above chance: {', '.join(found)}" if found else ""),
        )
    ]
    for space in spaces:
        gain = _gain(outcomes, f"{space}-dt", space, _metric("ndcg"))
        claims.append(
            Claim(
                f"in the control {space}-dt gains no NDCG over {space}",
                "Does not hold" if gain.low > 0 else "Holds",
                f"gain {_shown(gain)}",
            )
        )
    return claims


def _best(outcomes: Sequence[Outcome], space: str) -> Claim:
    means = {
        f"{space}{variant}": mean_interval(
            [each.metrics[f"{space}{variant}"]["ndcg"] for each in outcomes]
        ).mean
        for variant in VARIANTS
    }
    best = max(means, key=lambda name: means[name])
    seen = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
    holds: Verdict = "Holds" if best == f"{space}-dt" else "Does not hold"
    return Claim(f"{space}-dt has the best mean NDCG of its space", holds, seen)


def _clear(outcomes: Sequence[Outcome], space: str) -> Claim:
    intervals = {
        name: mean_interval([each.metrics[name]["ndcg"] for each in outcomes])
        for name in (space, f"{space}-dt")
    }
    gain = _gain(outcomes, f"{space}-dt", space, _metric("ndcg"))
    return Claim(
        f"the NDCG intervals of {space}-dt and {space} do not overlap, {space}-dt above",
        "Holds" if intervals[f"{space}-dt"].low > intervals[space].high else "Does not hold",
        f"{_shown(intervals[f'{space}-dt'])} and {_shown(intervals[space])}; "
        f"gain seed by seed {_shown(gain)}",
    )


def _above(outcomes: Sequence[Outcome], measure: str, rival: str, value: Value, says: str) -> Claim:
    gain = _gain(outcomes, measure, rival, value)
    clear: Verdict = "Holds" if gain.low > 0 else "Does not hold"
    verdict: Verdict = "Not clear" if gain.low <= 0 <= gain.high else clear
    return Claim(says, verdict, f"difference {_shown(gain)}")


def _gain(outcomes: Sequence[Outcome], measure: str, rival: str, value: Value) -> Interval:
    return mean_interval(differences(outcomes, measure, rival, value))


def _metric(name: str) -> Value:
    return lambda outcome, measure: outcome.metrics[measure][name]


def _relative(persona: str) -> Value:
    """Where a persona stands less where the afflicted do."""

    def value(outcome: Outcome, measure: str) -> float:
        standing = outcome.standing[measure]
        return standing[persona] - standing["afflicted"]

    return value


def _shown(interval: Interval) -> str:
    return f"{interval.mean:.3f} ± {interval.mean - interval.low:.3f}"

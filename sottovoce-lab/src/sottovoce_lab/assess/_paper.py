"""What R-Susceptibility prints, to stand beside ours: its figures, and its claims.

Each claim about its tables is held against ours: it holds, or it does not.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sottovoce.assess.evaluation.runs import RANDOM
from sottovoce.release.topics.evaluation import MeanInterval, mean_interval
from sottovoce.report.result import Row
from sottovoce_lab.assess.outcomes import VARIANTS, CommunityOutcome

COMMUNITIES = ("aol", "hf", "quora")
"""AOL queries, health forums, Quora."""
_METRICS = ("r_precision_micro", "r_precision_macro", "precision_at_5", "map", "ndcg")
PRINTED: Mapping[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_text("utf-8"))
"""By number of table. Table 1 has topics by judges agreeing, from 7 down to 0, of Quora, NYT and
health forums; 2, eight words of each topic, from a model of Quora posts; 3, users found sensitive.
4 and 5 have a measure's metrics by community, 6 its R-precision by topic and community."""
TABLE_4: Mapping[str, list[list[float]]] = PRINTED["4"]
TABLE_5: Mapping[str, list[list[float]]] = PRINTED["5"]
TABLE_6: Mapping[str, Mapping[str, list[float | None]]] = PRINTED["6"]


def table_4_columns(measure: str) -> Row:
    """The paper's row of Table 4, or blanks."""
    return _columns(TABLE_4.get(measure), _METRICS)


def table_5_columns(measure: str) -> Row:
    """The paper's row of Table 5; for ENT and DIFF-PRIV that of Table 4."""
    if measure in TABLE_5:
        metrics = [name for name in _METRICS if name != "precision_at_5"]
        return _columns(TABLE_5[measure], metrics)
    columns = table_4_columns(measure)
    return {name: value for name, value in columns.items() if "precision_at_5" not in name}


def table_6_columns(topic: str, measure: str) -> Row:
    """The paper's cells of Table 6, or blanks."""
    values = TABLE_6.get(topic, {}).get(measure, [None] * 3)
    row: Row = {
        f"paper_{where}_r_precision": value
        for where, value in zip(COMMUNITIES, values, strict=True)
    }
    return row | {"paper_r_precision": in_short(values)}


def in_short(values: Sequence[float | None]) -> str | None:
    """AOL, health forums and Quora in one cell."""
    if all(value is None for value in values):
        return None
    return " ".join("n/a" if value is None else f"{value:.3f}" for value in values)


def _columns(printed: Sequence[Sequence[float]] | None, metrics: Sequence[str]) -> Row:
    row: Row = {}
    for place, metric in enumerate(metrics):
        values = [None] * 3 if printed is None else [each[place] for each in printed]
        row |= {
            f"paper_{where}_{metric}": value
            for where, value in zip(COMMUNITIES, values, strict=True)
        }
        row[f"paper_{metric}"] = in_short(values)
    return row


Value = Callable[[CommunityOutcome, str], float]
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


def strength_claims(outcomes: Sequence[CommunityOutcome], spaces: Sequence[str]) -> list[Claim]:
    """Topical strength finds the sensitive better than ENT and DIFF-PRIV (Section 5.2)."""
    return [
        _claim_above(
            outcomes, space, rival, _metric("map"), f"{space} has a higher MAP than {rival}"
        )
        for space in spaces
        for rival in ("ent", "diff-priv")
    ]


def persona_claims(outcomes: Sequence[CommunityOutcome], spaces: Sequence[str]) -> list[Claim]:
    """-D lowers those who are at work in the field, -T those who are curious for a while."""
    pairs = [("-d", "professional"), ("-dt", "professional"), ("-t", "curious"), ("-dt", "curious")]
    return [
        _claim_above(
            outcomes,
            space,
            f"{space}{variant}",
            _relative(persona),
            f"{space}{variant} puts the {persona} lower against people concerned than {space}",
        )
        for space in spaces
        for variant, persona in pairs
    ]


def best_claims(outcomes: Sequence[CommunityOutcome], spaces: Sequence[str]) -> list[Claim]:
    """-DT has the best NDCG of its space, and its interval is clear of strength's."""
    found = []
    for space in spaces:
        found.append(_best(outcomes, space))
        found.append(_clear(outcomes, space))
    return found


def control_claims(outcomes: Sequence[CommunityOutcome], spaces: Sequence[str]) -> list[Claim]:
    """Where personas differ in name only, no measure gains anything."""
    names = [f"{space}{variant}" for space in spaces for variant in VARIANTS]
    gains = {name: _gain(outcomes, name, RANDOM, _metric("map")) for name in names}
    found = [name for name, gain in gains.items() if gain.low > 0]
    highest = max(gains, key=lambda name: gains[name].mean)
    claims = [
        Claim(
            "in the control no measure has a higher MAP than chance",
            "Does not hold" if found else "Holds",
            f"the highest gain is {highest}'s, {_show_interval(gains[highest])}"
            + (f"; above chance: {', '.join(found)}" if found else ""),
        )
    ]
    for space in spaces:
        gain = _gain(outcomes, f"{space}-dt", space, _metric("ndcg"))
        claims.append(
            Claim(
                f"in the control {space}-dt gains no NDCG over {space}",
                "Does not hold" if gain.low > 0 else "Holds",
                f"gain {_show_interval(gain)}",
            )
        )
    return claims


def _best(outcomes: Sequence[CommunityOutcome], space: str) -> Claim:
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


def _clear(outcomes: Sequence[CommunityOutcome], space: str) -> Claim:
    intervals = {
        name: mean_interval([each.metrics[name]["ndcg"] for each in outcomes])
        for name in (space, f"{space}-dt")
    }
    gain = _gain(outcomes, f"{space}-dt", space, _metric("ndcg"))
    return Claim(
        f"the NDCG intervals of {space}-dt and {space} do not overlap, {space}-dt above",
        "Holds" if intervals[f"{space}-dt"].low > intervals[space].high else "Does not hold",
        f"{_show_interval(intervals[f'{space}-dt'])} and {_show_interval(intervals[space])}; "
        f"gain seed by seed {_show_interval(gain)}",
    )


def _claim_above(
    outcomes: Sequence[CommunityOutcome], measure: str, rival: str, value: Value, says: str
) -> Claim:
    gain = _gain(outcomes, measure, rival, value)
    clear: Verdict = "Holds" if gain.low > 0 else "Does not hold"
    verdict: Verdict = "Not clear" if gain.low <= 0 <= gain.high else clear
    return Claim(says, verdict, f"difference {_show_interval(gain)}")


def _gain(
    outcomes: Sequence[CommunityOutcome], measure: str, rival: str, value: Value
) -> MeanInterval:
    return mean_interval([value(each, measure) - value(each, rival) for each in outcomes])


def _metric(name: str) -> Value:
    return lambda outcome, measure: outcome.metrics[measure][name]


def _relative(persona: str) -> Value:
    """Where a persona stands less where the afflicted do."""

    def value(outcome: CommunityOutcome, measure: str) -> float:
        standing = outcome.standing[measure]
        return standing[persona] - standing["afflicted"]

    return value


def _show_interval(interval: MeanInterval) -> str:
    return f"{interval.mean:.3f} ± {interval.mean - interval.low:.3f}"

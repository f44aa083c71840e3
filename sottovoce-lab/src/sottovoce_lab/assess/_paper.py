"""What R-Susceptibility prints, to stand beside ours: its figures, and its claims.

Each claim about its tables is held against ours: it holds, or it does not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sottovoce.assess.evaluation.runs import RANDOM
from sottovoce.release.topics.evaluation import MeanInterval, mean_interval
from sottovoce.report.result import Row
from sottovoce_lab.assess.outcomes import VARIANTS, CommunityOutcome, differences

COMMUNITIES = ("aol", "hf", "quora")
"""AOL queries, health forums, Quora."""

_TABLE_4_METRICS = ("r_precision_micro", "r_precision_macro", "precision_at_5", "map", "ndcg")
_TABLE_5_METRICS = ("r_precision_micro", "r_precision_macro", "map", "ndcg")

TABLE_4: Mapping[str, tuple[tuple[float, ...], ...]] = {
    "ent": (
        (0.495, 0.496, 0.760, 0.524, 0.819),
        (0.560, 0.537, 0.750, 0.613, 0.870),
        (0.239, 0.205, 0.240, 0.317, 0.632),
    ),
    "diff-priv": (
        (0.475, 0.465, 0.480, 0.492, 0.789),
        (0.560, 0.559, 0.500, 0.542, 0.794),
        (0.239, 0.223, 0.200, 0.310, 0.623),
    ),
    "w2v": (
        (0.556, 0.533, 0.720, 0.589, 0.836),
        (0.664, 0.634, 0.750, 0.696, 0.894),
        (0.343, 0.341, 0.280, 0.352, 0.637),
    ),
}

TABLE_5: Mapping[str, tuple[tuple[float, ...], ...]] = {
    "bow": (
        (0.434, 0.420, 0.459, 0.759),
        (0.642, 0.625, 0.620, 0.833),
        (0.284, 0.262, 0.319, 0.605),
    ),
    "bow-d": (
        (0.364, 0.358, 0.394, 0.700),
        (0.612, 0.580, 0.610, 0.832),
        (0.418, 0.398, 0.400, 0.672),
    ),
    "bow-t": (
        (0.556, 0.546, 0.574, 0.843),
        (0.582, 0.574, 0.619, 0.873),
        (0.284, 0.285, 0.317, 0.605),
    ),
    "bow-dt": (
        (0.374, 0.372, 0.441, 0.758),
        (0.612, 0.597, 0.667, 0.894),
        (0.463, 0.444, 0.440, 0.688),
    ),
    "w2v": (
        (0.556, 0.533, 0.589, 0.836),
        (0.664, 0.634, 0.696, 0.894),
        (0.343, 0.341, 0.352, 0.637),
    ),
    "w2v-d": (
        (0.414, 0.395, 0.427, 0.738),
        (0.642, 0.600, 0.647, 0.874),
        (0.493, 0.465, 0.532, 0.776),
    ),
    "w2v-t": (
        (0.586, 0.580, 0.645, 0.859),
        (0.619, 0.616, 0.643, 0.884),
        (0.313, 0.312, 0.401, 0.695),
    ),
    "w2v-dt": (
        (0.545, 0.530, 0.601, 0.860),
        (0.687, 0.678, 0.768, 0.939),
        (0.463, 0.434, 0.489, 0.763),
    ),
    "lda": (
        (0.525, 0.518, 0.557, 0.796),
        (0.649, 0.636, 0.724, 0.913),
        (0.358, 0.362, 0.428, 0.715),
    ),
    "lda-d": (
        (0.566, 0.563, 0.557, 0.803),
        (0.716, 0.703, 0.772, 0.921),
        (0.493, 0.485, 0.489, 0.752),
    ),
    "lda-t": (
        (0.576, 0.567, 0.655, 0.879),
        (0.709, 0.704, 0.748, 0.925),
        (0.299, 0.264, 0.378, 0.669),
    ),
    "lda-dt": (
        (0.616, 0.616, 0.649, 0.859),
        (0.716, 0.709, 0.825, 0.957),
        (0.418, 0.389, 0.481, 0.751),
    ),
}

# Our simulated topics and, by measure (lda, lda-d, lda-t, lda-dt), AOL, health forums, Quora.
TABLE_6: Mapping[str, Mapping[str, tuple[float | None, ...]]] = {
    "clinical depression": {
        "lda": (0.542, 0.762, 0.650),
        "lda-d": (0.542, 0.762, 0.550),
        "lda-t": (0.625, 0.833, 0.650),
        "lda-dt": (0.667, 0.762, 0.600),
    },
    "drug addiction": {
        "lda": (0.545, 0.710, 0.364),
        "lda-d": (0.636, 0.806, 0.545),
        "lda-t": (0.591, 0.677, 0.273),
        "lda-dt": (0.636, 0.774, 0.364),
    },
    "pregnancy": {
        "lda": (0.533, 0.571, 0.095),
        "lda-d": (0.667, 0.667, 0.429),
        "lda-t": (0.533, 0.619, 0.095),
        "lda-dt": (0.733, 0.667, 0.381),
    },
    "hiv": {
        "lda": (0.429, 0.526, 0.400),
        "lda-d": (0.429, 0.579, 0.400),
        "lda-t": (0.500, 0.684, 0.200),
        "lda-dt": (0.500, 0.632, 0.400),
    },
    "financial debts": {
        "lda": (0.542, None, 0.300),
        "lda-d": (0.542, None, 0.500),
        "lda-t": (0.583, None, 0.100),
        "lda-dt": (0.542, None, 0.200),
    },
}


def table_4_columns(measure: str) -> Row:
    """The paper's row of Table 4, or blanks."""
    return _columns(TABLE_4.get(measure), _TABLE_4_METRICS)


def table_5_columns(measure: str) -> Row:
    """The paper's row of Table 5; for ENT and DIFF-PRIV that of Table 4."""
    if measure in TABLE_5:
        return _columns(TABLE_5[measure], _TABLE_5_METRICS)
    columns = table_4_columns(measure)
    return {name: value for name, value in columns.items() if "precision_at_5" not in name}


def table_6_columns(topic: str, measure: str) -> Row:
    """The paper's cells of Table 6, or blanks."""
    values = TABLE_6.get(topic, {}).get(measure, (None, None, None))
    row: Row = {
        f"paper_{where}_r_precision": value
        for where, value in zip(COMMUNITIES, values, strict=True)
    }
    return row | {"paper_r_precision": in_short(values)}


def in_short(values: tuple[float | None, ...]) -> str | None:
    """AOL, health forums and Quora in one cell."""
    if all(value is None for value in values):
        return None
    return " ".join("n/a" if value is None else f"{value:.3f}" for value in values)


def _columns(printed: tuple[tuple[float, ...], ...] | None, metrics: tuple[str, ...]) -> Row:
    row: Row = {}
    for place, metric in enumerate(metrics):
        values = (None,) * 3 if printed is None else tuple(each[place] for each in printed)
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
    return mean_interval(differences(outcomes, measure, rival, value))


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

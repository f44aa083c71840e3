"""Whether a setting is both useful and safe, and for whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from sottovoce.loop._round import FOUND, KEPT
from sottovoce.privacy.exact import in_nats
from sottovoce.report.result import Row, number

LABELS = {FOUND: "share found of people concerned", KEPT: "share of the top 5% who stay there"}
ENOUGH = 0.5
"""Of what the true counts give beyond doing nothing, the share that makes a release useful."""
_NEARLY_RIGHT = 0.1


@dataclass(frozen=True)
class Use:
    """Something that a release is good for, and the value of doing nothing."""

    who: str
    score: str
    idle: str | None
    """The row's value of doing nothing; None: the score is an error, as a share of the truth."""

    def kept(self, row: Row, bare: Row) -> float:
        """The share of what the counts without noise give that is left, between 0 and 1."""
        value = number(row, self.score)
        if self.idle is None:
            return max(0.0, 1 - value)
        idle = number(row, self.idle)
        gain = max(number(bare, self.score) - idle, 1e-9)
        return min(1.0, max(0.0, (value - idle) / gain))

    def is_served(self, row: Row, bare: Row) -> bool:
        """Whether half is left, or an error of a tenth is not passed."""
        if self.idle is None:
            return number(row, self.score) <= _NEARLY_RIGHT
        return self.kept(row, bare) >= ENOUGH


USES = (
    Use("who looks for topics", "jaccard", "jaccard_chance"),
    Use("who trains a classifier for documents of their own", "accuracy_true", "accuracy_majority"),
    Use("who tells the class of released documents", "accuracy", "accuracy_majority"),
    Use("who asks how often topics are spoken of in all", "totals_error", None),
)


def end_of(row: Row, name: str, end: str) -> float:
    """An end of an interval; the value itself where there is none."""
    return number(row, f"{name}_{end}" if f"{name}_{end}" in row else name)


def safe_rows(rows: Sequence[Row], exposure: str, limit: float) -> list[Row]:
    """Private settings whose exposure stays below ``limit``, the upper end of its interval too."""
    return [
        row for row in rows if row["epsilon"] is not None and end_of(row, exposure, "high") <= limit
    ]


def recommended(rows: Sequence[Row], exposure: str, limit: float) -> Row | None:
    """Of the safe settings the one that keeps most for all uses together.

    The upper end of the interval must stay below, so that a lucky draw does not decide.
    """
    bare = _bare(rows)
    return max(
        safe_rows(rows, exposure, limit),
        key=lambda row: sum(use.kept(row, bare) for use in USES),
        default=None,
    )


def verdict(rows: Sequence[Row], exposure: str, limit: float) -> str:
    """For each use the settings that are both useful and safe."""
    bare, safe = _bare(rows), safe_rows(rows, exposure, limit)
    served = {use: [row for row in safe if use.is_served(row, bare)] for use in USES}
    good = [f"{use.who}: {_listed(own)}" for use, own in served.items() if own]
    none = [use.who for use, own in served.items() if not own]
    if not good:
        return (
            f"No setting is both useful and safe here: none keeps the {LABELS[exposure]} below "
            f"{limit:g} and serves anybody {_joined(none)}."
        )
    left = f" Nothing that is safe serves anybody {_joined(none)}." if none else ""
    return f"Both useful and safe, for anybody {'; for anybody '.join(good)}.{left}"


def rule(exposure: str, limit: float) -> str:
    """What counts as safe, and as useful."""
    return (
        f"Safe is a {LABELS[exposure]} below {limit:g}, whoever reads; useful is half of what the "
        "counts without noise give beyond doing nothing, or an error of a tenth at most."
    )


def passage_words(rows: Sequence[Row]) -> str:
    """What one passage is told by, beside what the promise allows; and any defect."""
    noisy = _noisy(rows)
    shown = "; ".join(
        f"at {in_nats(_rate(row))} per word, N = {row['precision']}: {_told(row)}" for row in noisy
    )
    told = (
        "Whether one document holds a passage of N words of a sensitive topic, told with 5% false "
        "alarms by the adversary, by one who knows every other word of it, and at most by the "
        f"promise: {shown}."
    )
    wrong = [row for row in rows if row.get("defect") is not None]
    if not wrong:
        return f"{told} Nothing is above its bound by more than chance allows."
    return (
        f"{told} DEFECT: of {_listed(wrong)} more was told than the promise allows; do not release."
    )


def _told(row: Row) -> str:
    names = ("passage_seen", "passage_strongest", "passage_bound")
    return ", ".join(f"{number(row, name):.2f}" for name in names)


def _noisy(rows: Sequence[Row]) -> list[Row]:
    """The private settings of the first method, weak to strong."""
    first = [row for row in rows if row["method"] == rows[0]["method"]]
    return sorted(
        (row for row in first if row["rate"] is not None), key=lambda row: -number(row, "rate")
    )


def _bare(rows: Sequence[Row]) -> Row:
    bare = [row for row in rows if row["epsilon"] is None]
    return max(bare, key=lambda row: number(row, "jaccard"))


def _listed(rows: Sequence[Row]) -> str:
    methods = list(dict.fromkeys(cast("str", row["method"]) for row in rows))
    rates = {method: [_rate(row) for row in rows if row["method"] == method] for method in methods}
    return ", and ".join(
        f"{method} at {in_nats(_joined(own))} per word" for method, own in rates.items()
    )


def _joined(parts: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _rate(row: Row) -> str:
    return f"{number(row, 'rate'):.3g}"

"""What the loop says: whether a setting is both useful and safe, for whom, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sottovoce.loop._round import FOUND, KEPT
from sottovoce.loop._whole import BOUND, LOCAL, NOTHING, TOGETHER, TOLD
from sottovoce.privacy.exact import in_nats
from sottovoce.privacy.guarantee import LimitedPrecision
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

    def kept_share(self, row: Row, bare: Row) -> float:
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
        return self.kept_share(row, bare) >= ENOUGH


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


def choose_setting(rows: Sequence[Row], exposure: str, limit: float) -> Row | None:
    """Of the safe settings the one that keeps most for all uses together.

    The upper end of the interval must stay below, so that a lucky draw does not decide.
    """
    bare = _bare(rows)
    return max(
        safe_rows(rows, exposure, limit),
        key=lambda row: sum(use.kept_share(row, bare) for use in USES),
        default=None,
    )


def verdict(rows: Sequence[Row], exposure: str, limit: float) -> str:
    """For each use the settings that are both useful and safe."""
    bare, safe = _bare(rows), safe_rows(rows, exposure, limit)
    served = {use: [row for row in safe if use.is_served(row, bare)] for use in USES}
    good = [f"{use.who}: {_list_settings(own)}" for use, own in served.items() if own]
    none = [use.who for use, own in served.items() if not own]
    if not good:
        return (
            f"No setting is both useful and safe here: none keeps the {LABELS[exposure]} below "
            f"{limit:g} and serves anybody {_join_parts(none)}."
        )
    left = f" Nothing that is safe serves anybody {_join_parts(none)}." if none else ""
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
        f"at {in_nats(_rate(row))} per word, N = {row['precision']}: {_describe_passage(row)}"
        for row in noisy
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
        f"{told} DEFECT: of {_list_settings(wrong)} more was told than the promise allows; do not "
        "release."
    )


def _describe_passage(row: Row) -> str:
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


def _list_settings(rows: Sequence[Row]) -> str:
    methods = list(dict.fromkeys(cast("str", row["method"]) for row in rows))
    rates = {method: [_rate(row) for row in rows if row["method"] == method] for method in methods}
    return ", and ".join(
        f"{method} at {in_nats(_join_parts(own))} per word" for method, own in rates.items()
    )


def _join_parts(parts: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _rate(row: Row) -> str:
    return f"{number(row, 'rate'):.3g}"


def finding(rows: Sequence[Row], levels: Mapping[str, float], exposure: str) -> str:
    """What happens to exposure from no noise to the strongest setting."""
    plain = [row for row in rows if row["compression"] == "none"] or list(rows)
    ordered = order_by_rate(plain)
    first, last = ordered[0], ordered[-1]
    rate = in_nats(f"{number(last, 'rate'):.3g}")
    text = (
        f"The {LABELS[exposure]} goes from {number(first, exposure):.2f} without noise to "
        f"{number(last, exposure):.2f} at {rate} per word"
    )
    if exposure == FOUND:
        text += (
            f" (chance {levels['r_precision_chance']:.2f}, the luckiest of as many random orders "
            f"{levels['r_precision_luck']:.2f}; from the posts themselves "
            f"{levels['r_precision_posts']:.2f})"
        )
    return (
        f"{text}; the topic Jaccard from {number(first, 'jaccard'):.2f} to "
        f"{number(last, 'jaccard'):.2f}."
    )


def advice(chosen: Row | None, exposure: str, limit: float) -> str:
    """The setting to take for a stated limit, and what it promises."""
    if chosen is None:
        return (
            f"No setting that was tried keeps the {LABELS[exposure]} below {limit:g}: try a "
            "smaller epsilon, or do not release."
        )
    promise = LimitedPrecision(cast("int", chosen["precision"]), cast("str", chosen["epsilon"]))
    useless = number(chosen, "jaccard") <= _HARDLY * number(chosen, "jaccard_chance")
    warning = " At that its topics are hardly better than random ones." if useless else ""
    return (
        f"To keep the {LABELS[exposure]} below {limit:g}, take {chosen['method']} at N="
        f"{chosen['precision']}, epsilon {chosen['epsilon']}: that share is "
        f"{number(chosen, exposure):.2f}, the topic Jaccard {number(chosen, 'jaccard'):.2f}, the "
        f"accuracy {number(chosen, 'accuracy_true'):.2f} on true documents "
        f"({number(chosen, 'accuracy_majority'):.2f} by always saying the commoner label), the "
        f"error of topics' totals {number(chosen, 'totals_error'):.2f}.{warning} "
        f"{promise.in_words()}"
    )


def notes(exposure: str) -> tuple[str, ...]:
    """How to read the numbers, by what stands for exposure."""
    first, *others = _NOTES
    return (first, _MEANING[exposure], *others)


_MEANING = {
    FOUND: (
        "Found is their R-precision: as many people are picked from the top of the ranking as the "
        "topic concerns, and it concerns this share of them. Which adversary does best is seen "
        "afterwards, so that of nothing but noise the best stands a little above chance: that is "
        "shown, too."
    ),
    KEPT: (
        "Nobody said whom topics concern (--truth), so what counts is who stays at the top: of the "
        "first 5% by their posts, the share who are in the first 5% of the release. Of nothing but "
        "noise that is 0.05 for one adversary, and more for the best of several."
    ),
}


_NOTES = (
    (
        "Adversaries read a release as its friends do: what a cell says of its count, topics "
        "learnt from the release, and the likelihood of all documents of a person if the topic "
        "concerns them. Simpler ones, who clip counts at zero or take them to be geometric, or "
        "add up a topic's words, are beside them. The one who does best is shown: a user must "
        "reckon with them."
    ),
    (
        "How many documents somebody has is public in a release; what ranking by that alone finds "
        "is shown beside."
    ),
    (
        "The promise is about one document, which is what a user wrote in a week, or in all; "
        "documents of one user that say the same add up. Settings of one rate epsilon/N are the "
        "same release."
    ),
)


_HARDLY = 1.5


def order_by_rate(rows: Sequence[Row]) -> list[Row]:
    """Without noise first, then from weak to strong privacy."""
    return sorted(rows, key=lambda row: -number(row, "rate") if row["rate"] is not None else -1e9)


LEVELS = {
    "r_precision_posts": "from the posts themselves",
    "r_precision_rows": "by the number of documents",
    "r_precision_luck": "the luckiest of as many random orders",
    "r_precision_chance": "chance",
}


def name_levels(levels: Mapping[str, float]) -> dict[str, float]:
    """The levels to draw, by the names people read."""
    return {name: levels[key] for key, name in LEVELS.items() if key in levels}


_PROMISE = (
    "Both promise the same: with or without the words of one whole document, any outcome's "
    "probability changes by a factor of e^epsilon at most (with another document in its place: "
    "e^2epsilon), and a person with m documents has m epsilon. A local release publishes counts of "
    "every document, each with noise of its own. Counting together opens sums over all documents, "
    "with noise once; that holds against everyone but 2 of the 4 holders colluding. One half of "
    "its epsilon goes to pairs of words, for topics, the other to words by label, and labels are "
    "hidden, too; readers of a release are taken to know them."
)


_EXPOSURE = (
    "Nobody can be ranked by a sum, as it has no row of anybody: that row has no people found, and "
    "no documents to classify. What is left is to ask whether a document is there. Told is how "
    "often that is answered, with 5% false alarms, by who knows every other document, all that "
    "this one would say and the noise of one holder. Votes are for at most S - 1 different words "
    "of a document, so that totals miss the rest, whatever the noise."
)


def _sentence(rows: Sequence[Row], row: Row, exposure: str) -> str:
    """What counting together gives at one epsilon, beside a local release and no protection."""
    three = _find_compared(rows, row)
    _, local, bare = three
    right, topics = (_three(three, name) for name in ("accuracy_true", "jaccard"))
    return (
        f"Whole documents hidden at epsilon {row['epsilon']}, by counting together, by a local "
        f"release, and not at all: the classifier is right in {right} of true documents (the "
        f"commoner label: {number(row, 'accuracy_majority'):.2f}), the topic Jaccard is {topics} "
        f"(random topics: {number(row, 'jaccard_chance'):.2f}), topics' totals are off by "
        f"{_three(three, 'totals_error')}; one document is told in {_three(three, TOLD)} (by the "
        f"promise at most {number(row, BOUND):.2f}). The {LABELS[exposure]} is "
        f"{number(local, exposure):.2f} in the local release, {number(bare, exposure):.2f} without "
        "protection, and does not exist for a sum."
    )


def whole_notes(rows: Sequence[Row], exposure: str) -> tuple[str, ...]:
    """What the rows of whole documents say, and how to read them."""
    told = [_sentence(rows, row, exposure) for row in rows if row["way"] == TOGETHER]
    return (*told, _PROMISE, f"{_EXPOSURE} {_defects(rows)}")


def whole_finding(rows: Sequence[Row]) -> str:
    """What each way of counting together keeps, in short."""
    return " ".join(_short(rows, row) for row in rows if row["way"] == TOGETHER)


def _short(rows: Sequence[Row], row: Row) -> str:
    right = _three(_find_compared(rows, row), "accuracy_true")
    return (
        f"At epsilon {row['epsilon']} for whole documents, counting together, a local release and "
        f"no protection leave a classifier that is right in {right}."
    )


def _find_compared(rows: Sequence[Row], row: Row) -> tuple[Row, Row, Row]:
    """Counting together, the local release of the same epsilon, and no protection."""
    (local,) = (each for each in rows if each["way"] == LOCAL and each["epsilon"] == row["epsilon"])
    return row, local, rows[0]


def _three(rows: Sequence[Row], name: str) -> str:
    one, other, last = (f"{number(row, name):.2f}" for row in rows)
    return f"{one}, {other} and {last}"


def _defects(rows: Sequence[Row]) -> str:
    wrong = [name_way(row) for row in rows if row.get("defect") is not None]
    if wrong:
        return f"DEFECT: by {' and '.join(wrong)} more documents were told than the promise allows."
    return "No whole document is told above its bound by more than chance allows."


def name_way(row: Row) -> str:
    return NOTHING if row["epsilon"] is None else f"{row['way']}, ε = {row['epsilon']}"

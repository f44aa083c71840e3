"""Learn the weights by which a post that fits no rule is said to be outright, from our open posts.

``python tools/weigh_disclosures.py`` writes ``tables/weights.json``; with ``--leave-out`` it writes
nothing, and prints recall and precision of each file, or batch of the open file, by weights that
are learned from the others. Needs ``tests`` on the path of Python.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from support.disclosure_posts import (
    EVERYDAY,
    FOLDER,
    OPEN_FILES,
    UNTOPICAL,
    DisclosurePost,
    disclosure_posts,
    tally_by,
    wilson,
)

from sottovoce.assess.disclosure._said import FEWEST_CLUES, MOST_CLUES, SCALE, Signals, Weights
from sottovoce.assess.disclosure.disclosures import DisclosureReader, signals_in
from sottovoce.assess.disclosure.levels import DisclosureLevel

OUT = Path(__file__).parents[1] / "src/sottovoce/assess/disclosure/tables/weights.json"
NO_WEIGHTS = Weights({}, math.inf, math.inf, math.inf)
# Chosen by leaving files out: how strongly weights are held to zero, how often a signal is met at
# least, and how much is enough by terms, and by clues alone.
RIDGE, RAREST = 1 / 0.3, 2
LEAST = {"least": -0.7, "least_by_clues": 0.0, "least_of_another": 1.0}
# Of a post on a topic that is not its own; few are outright on two, and no label says so.
OTHERS_WEIGHT = 0.5
HOW = (
    "Logistic regression on the open posts of tests/posts and on everyday posts as examples of "
    "nothing, by tools/weigh_disclosures.py. Weights are hundredths; which signals there are, and "
    "how they are summed, says _said.py."
)


class Example(NamedTuple):
    """One post and topic: its group, what it has, and whether it is outright."""

    group: str
    signals: Signals
    outright: bool
    weight: float = 1.0


def group_of(name: str, post: DisclosurePost) -> str:
    """The file of a post; of the open file the batch."""
    parts = post.id.split("-")
    return f"{name} {parts[1]}" if len(parts[1]) == 1 else name


def examples(reader: DisclosureReader) -> list[Example]:
    """Every open post on its topic, and as an example of nothing on each other one it touches."""
    reader = with_weights(reader, NO_WEIGHTS)
    numbers = {topic.name: number for number, topic in enumerate(reader.topics)}
    known = reader._known  # noqa: SLF001 - a tool of this room
    found = [
        Example(
            group_of(name, post), signals_in(post.text, numbers[post.topic], known), post.outright
        )
        for name in OPEN_FILES
        for post in disclosure_posts(name)
    ]
    for group, topic, text in others():
        ruled = {told.topic for told in reader.read(text) if told.level is DisclosureLevel.OUTRIGHT}
        for name, number in numbers.items():
            signals = signals_in(text, number, known)
            clues = signals.traits["clues"] * MOST_CLUES
            if (signals.traits["terms"] or clues >= FEWEST_CLUES) and name not in {topic, *ruled}:
                found.append(Example(group, signals, outright=False, weight=OTHERS_WEIGHT))
    return found


def others() -> Iterable[tuple[str, str, str]]:
    """Posts that say nothing of other topics than their own: group, own topic, text."""
    for text in (FOLDER / UNTOPICAL).read_text(encoding="utf-8").splitlines():
        yield UNTOPICAL, "", text
    for name in OPEN_FILES:
        for post in disclosure_posts(name):
            yield group_of(name, post), post.topic, post.text


def values_of(signals: Signals) -> dict[str, float]:
    """Each signal with its value, as ``Weights.score`` counts it."""
    scale = SCALE / math.sqrt(len(signals.words) or 1)
    return dict.fromkeys(sorted(signals.words), scale) | signals.traits


def learned(chosen: Sequence[Example]) -> Weights:
    """The weights that fit ``chosen`` best, held to zero by a ridge; the constant is free."""
    rows = [values_of(each.signals) for each in chosen]
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= RAREST)
    at = {name: place for place, name in enumerate(names)}
    entries = [
        (k, at[name], v) for k, row in enumerate(rows) for name, v in row.items() if name in at
    ]
    row, column, value = (np.array(each) for each in zip(*entries, strict=True))
    design = csr_matrix((value, (row, column)), shape=(len(rows), len(names)))
    sides = np.where([each.outright for each in chosen], 1.0, -1.0)
    fitted = _fit(design, sides, np.array([each.weight for each in chosen]))
    weights = {name: round(100 * w) for name, w in zip(names, fitted[:-1], strict=True)}
    kept = {name: weight for name, weight in weights.items() if weight}
    # The constant is a trait that every post has.
    return Weights(kept | {"always": round(100 * fitted[-1])}, **LEAST)


def _fit(
    design: csr_matrix, sides: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = sides * (design @ weights[:-1] + weights[-1])
        pull = -counts * sides / (1 + np.exp(np.clip(margins, -500, 500)))
        slope = np.append(design.T @ pull + RIDGE * weights[:-1], pull.sum())
        return float(
            counts @ np.logaddexp(0, -margins) + RIDGE / 2 * weights[:-1] @ weights[:-1]
        ), slope

    start = np.zeros(design.shape[1] + 1)
    return np.asarray(
        minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 3000}).x
    )


def with_weights(reader: DisclosureReader, weights: Weights) -> DisclosureReader:
    """The reader, which weighs by ``weights`` from now on."""
    reader._known = reader._known._replace(weights=weights)  # noqa: SLF001 - a tool of this room
    return reader


def leave_out(reader: DisclosureReader, known: Sequence[Example]) -> Iterable[str]:
    """A line a group: recall and precision by rules alone, and by weights learned elsewhere."""
    posts: dict[str, list[DisclosurePost]] = {}
    for name in OPEN_FILES:
        for post in disclosure_posts(name):
            posts.setdefault(group_of(name, post), []).append(post)
    totals = np.zeros((2, 3), int)
    for group, its in posts.items():
        others = [each for each in known if each.group != group]
        tallies = [
            tally_by(with_weights(reader, weights), its)
            for weights in (NO_WEIGHTS, learned(others))
        ]
        totals += [(each.hits, each.missed, each.wrong) for each in tallies]
        yield f"{group}: {', then '.join(_shares(t.hits, t.missed, t.wrong) for t in tallies)}"
        alarms = _alarms(reader)
        yield f"    failures {tallies[1].failures}, everyday alarms {alarms}"
    yield f"all: {', then '.join(_shares(*map(int, total)) for total in totals)}"


def _alarms(reader: DisclosureReader) -> int:
    texts = (FOLDER / EVERYDAY).read_text(encoding="utf-8").splitlines()
    return sum(
        any(told.level is DisclosureLevel.OUTRIGHT for told in reader.read(text)) for text in texts
    )


def _shares(hits: int, missed: int, wrong: int) -> str:
    recall, precision = hits / (hits + missed), hits / (hits + wrong)
    low, high = wilson(hits, hits + missed)
    return (
        f"recall {recall:.3f} ({low:.3f} to {high:.3f}; {hits}/{hits + missed}), "
        f"precision {precision:.3f} ({hits}/{hits + wrong})"
    )


def main() -> None:
    """Learn the weights, or show how well those of others do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leave-out", action="store_true", help="print figures, write nothing")
    reader = DisclosureReader()
    known = examples(reader)
    if parser.parse_args().leave_out:
        for line in leave_out(reader, known):
            print(line, flush=True)
        return
    weights = learned(known)
    written = {
        "how": HOW,
        "examples": dict(sorted(Counter(each.group for each in known).items())),
        "ridge": round(RIDGE, 4),
        "rarest": RAREST,
        **LEAST,
        "weights": dict(sorted(weights.of.items())),
    }
    OUT.write_text(json.dumps(written, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Whole documents hidden, at one epsilon: by a local release, by counting together, and not at all.

A local release hides a whole document if each has at most N counted words: emptying one is then a
change of N words, e^epsilon, and one for another is e^2epsilon, as for a document that is taken out
of a count together or replaced in it. N and the most votes of a document are one number here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy import sparse

from sottovoce.loop._adversary import TopicScores
from sottovoce.loop._passage import PassageTest, document_test, is_defect
from sottovoce.loop._round import Circle, setting_row, summary
from sottovoce.loop._settings import PrivacySetting
from sottovoce.loop._together import TogetherCounting
from sottovoce.privacy.exact import positive
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.report.result import Row

NOTHING, LOCAL, TOGETHER = "no protection", "local release", "count together"
PASSAGE, DOCUMENT = "passage", "whole document"
TOLD, BOUND = "document_told", "document_bound"


@dataclass(frozen=True, eq=False)
class WholeCircle:
    """A community, once around in each of the ways that hide whole documents."""

    circle: Circle
    before: TopicScores
    texts: tuple[str, ...]
    """Of the documents."""
    votes: int
    """N of the release, and the most votes of a document."""

    @cached_property
    def bounded(self) -> Circle:
        """The same with at most N counted words in a document, drawn evenly."""
        documents, generator = self.circle.documents, np.random.default_rng(self.circle.seed)
        counts = bounded_counts(documents.counts, self.votes, generator)
        return replace(self.circle, documents=replace(documents, counts=counts))

    @cached_property
    def together(self) -> TogetherCounting:
        """The same among four holders who count together."""
        circle = self.circle
        return TogetherCounting(circle.documents, self.texts, circle.task, self.votes, circle.seed)

    def told(self, setting: PrivacySetting) -> PassageTest:
        """How many documents are told in a local release; without epsilon in the bare counts."""
        circle = self.circle if setting.epsilon is None else self.bounded
        return document_test(setting, circle.documents, circle.frequencies, circle.seed)


def bounded_counts(counts: Counts, most: int, generator: np.random.Generator) -> Counts:
    """Of each document's words at most ``most``, any of them alike."""
    owners = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    rows, columns = (np.repeat(each, counts.data) for each in (owners, counts.indices))
    order = np.lexsort((generator.random(rows.size), rows))
    begins = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=counts.shape[0]))])
    kept = order[np.arange(rows.size) - begins[rows[order]] < most]
    ones = np.ones(kept.size, np.int64)
    return checked_counts(sparse.csr_array((ones, (rows[kept], columns[kept])), shape=counts.shape))


def with_whole_documents(
    rows: Sequence[Row], circles: Sequence[WholeCircle], epsilons: Sequence[str], facts: Row
) -> tuple[Row, ...]:
    """The rows of all settings, and behind them two for each epsilon of whole documents."""
    bare = _told([each.told(PrivacySetting()) for each in circles]) | {BOUND: None}
    unasked: Row = {"votes": None, TOLD: None, BOUND: None}
    first = [
        {"way": NOTHING, "unit": None, **unasked, **(bare if row is rows[0] else {})}
        if row["epsilon"] is None
        else {"way": LOCAL, "unit": PASSAGE, **unasked}
        for row in rows
    ]
    marked = [row | own for row, own in zip(rows, first, strict=True)]
    whole = [row | facts for epsilon in epsilons for row in _rows(circles, epsilon)]
    names: Row = {name: None for row in (*marked, *whole) for name in row}
    return (*marked, *(names | row for row in whole))


def _rows(circles: Sequence[WholeCircle], epsilon: str) -> Iterator[Row]:
    votes = circles[0].votes
    setting = PrivacySetting(precision=votes, epsilon=epsilon)
    asked: Row = {"unit": DOCUMENT, "votes": votes}
    outcomes = [each.bounded.released(setting, each.before) for each in circles]
    local = setting_row(setting, outcomes)
    told = _told([each.told(setting) for each in circles])
    told["defect"] = told["defect"] or local["defect"]
    yield {**local, "way": LOCAL, "method": f"whole documents, {LOCAL}", **asked, **told}
    exact = positive(epsilon, "epsilon")
    yield {**_together(circles, exact), **asked, "epsilon": epsilon}


def _together(circles: Sequence[WholeCircle], epsilon: Fraction) -> Row:
    """What is no property of a sum, such as who is found, has no value here."""
    useful = [each.together.usefulness(epsilon) for each in circles]
    row: Row = {
        "way": TOGETHER,
        "method": f"whole documents, {TOGETHER}",
        "rate": float(epsilon / 2 / circles[0].votes),
        "guarantee": str(circles[0].together.promise(epsilon)),
        "seeds": len(circles),
    }
    for name in useful[0]:
        row |= summary(name, [each[name] for each in useful])
    return row | _told([each.together.told(epsilon) for each in circles])


def _told(tests: Sequence[PassageTest]) -> Row:
    return {
        TOLD: float(np.mean([test.strongest for test in tests])),
        BOUND: tests[0].bound,
        "defect": "above the bound" if is_defect(tests) else None,
    }

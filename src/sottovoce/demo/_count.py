"""The demo's count together: how many people are concerned and by which words, nobody shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.federation.party.processes import PartyProcesses
from sottovoce.learn.count import TogetherCounts
from sottovoce.report.page import Section

EPSILON, VOTES = 1, 4
LEVEL = 0.95
_WORDS_SHOWN = 8
_INTRODUCTION = (
    "The classifier was learnt from exact sums over all people, which promise nothing: who knows "
    "all people but one can subtract. Here the same four platforms ask something simpler and hide "
    "everybody whole: how many people does something sensitive concern, and which words of the "
    "public list do they use? All that somebody wrote is one document; it has a vote for itself "
    "and for a few of its listed words. Each platform adds up its votes and its share of the "
    "noise, and only the sum of all four is opened."
)
_READING = (
    "A cell of the table is a sum with noise, and behind it stands where the votes lie, 95% of the "
    "time, by the known law of the noise. A word has fewer votes than people who use it, as nobody "
    "has more than a few; where the interval begins at 0, the noise could have made the number, "
    "and a number below 0 is noise. "
    "The words are those that the concerned vote for most beyond the others; of numbers that are "
    "picked for their size some owe it to the noise. How many people there are in truth only "
    "this page knows, which made them up: no platform told another."
)


@dataclass(frozen=True)
class CountDemo:
    """What the section says."""

    counted: TogetherCounts
    done: Mapping[str, Any]
    truth: Mapping[str, int]
    """How many people have each label; nobody is told."""


def run_count_demo(parties: PartyProcesses, words: Path, truth: Mapping[str, int]) -> CountDemo:
    """Count the words of a file by label, between parties that run."""
    done = parties.asked(
        "coordinator",
        do="count",
        words_file=str(words),
        epsilon=str(EPSILON),
        votes=VOTES,
        labels=sorted(truth),
    )
    return CountDemo(TogetherCounts.from_bytes(bytes.fromhex(done["counted"])), done, truth)


def count_section(demo: CountDemo) -> Section:
    """What the learn part of the report says of it."""
    counted, leakage = demo.counted, demo.done["leakage"]
    margin = counted.margin(LEVEL)
    learns = {f"{row['who']} learns".capitalize(): row["what"] for row in leakage["learns"]}
    truth = ", ".join(f"{number:,} {label}" for label, number in sorted(demo.truth.items()))
    return Section(
        title="What four count together, everybody hidden whole",
        paragraphs=(_INTRODUCTION, f"What is promised: {counted.guarantee.in_words()}", _READING),
        facts={
            "Epsilon of a whole document": f"{EPSILON}, for all of this table",
            "Votes of a document": f"at most {VOTES}, one of them for itself",
            "The noise of a number": f"within ±{margin}, {LEVEL:.0%} of the time",
            "People in truth": truth,
            "The count took": f"{demo.done['seconds']:.1f} s",
            **learns,
            "Together": leakage["together"],
        },
        table=(
            ("votes for", *counted.labels),
            ("people themselves", *_cells(counted.document_totals.tolist(), margin)),
            *(
                (counted.words[at], *_cells(counted.word_totals[:, at].tolist(), margin))
                for at in _telling(counted)
            ),
        ),
    )


def _telling(counted: TogetherCounts) -> list[int]:
    """The words that documents of the first label vote for oftener than the others, most first."""
    shares = np.maximum(counted.word_totals, 0) / np.maximum(counted.document_totals, 1)[:, None]
    order = (shares[1] - shares[0]).argsort(kind="stable")
    return [int(at) for at in order[:_WORDS_SHOWN]]


def _cells(totals: list[int], margin: int) -> list[str]:
    return [
        f"{total:,} ({max(0, total - margin):,} to {max(0, total + margin):,})" for total in totals
    ]

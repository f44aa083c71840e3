"""The posts of ours that say something outright of their author, or do not, and how to count them.

``python -m support.disclosure_posts FILE ...`` prints the counts of any file of such posts.
"""

import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import DisclosureLevel

FOLDER = Path(__file__).parents[1] / "posts"
BLIND = "disclosures-blind.jsonl"
"""For judging only."""
FRESH = "disclosures-fresh.jsonl"
FORMER = "disclosures-judged.jsonl"
"""Both judged in the past, open by now."""
OPEN = "disclosures-open.jsonl"
EVERYDAY = "everyday.txt"
UNTOPICAL = "untopical.txt"
"""Everyday posts by which weights are learned; those of ``EVERYDAY`` only test."""
OPEN_FILES = (OPEN, FORMER, FRESH)
"""Files that may be looked at, and learned from."""
FILES = tuple(name for name in (BLIND, FRESH, FORMER, OPEN) if (FOLDER / name).exists())


class DisclosurePost(NamedTuple):
    """A post, its topic and form, and whether it says of its author that the topic applies."""

    id: str
    topic: str
    kind: str
    outright: bool
    text: str


class DisclosureTally(NamedTuple):
    """How often "says it outright" was right on a file of posts."""

    hits: int
    missed: int
    wrong: int
    failures: dict[str, int]
    """By kind, how many posts were told wrongly."""

    @property
    def recall(self) -> float:
        return self.hits / (self.hits + self.missed)

    @property
    def precision(self) -> float:
        return self.hits / (self.hits + self.wrong)

    @property
    def figures(self) -> dict[str, object]:
        """Both shares with their 95% bounds, and failures by kind: no post, and no word of one."""
        return {
            "recall": (self.recall, *wilson(self.hits, self.hits + self.missed)),
            "precision": (self.precision, *wilson(self.hits, self.hits + self.wrong)),
            "failures": self.failures,
        }


def disclosure_posts(name: str | Path) -> list[DisclosurePost]:
    """Read a file of posts as its README describes them; another field is an error."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [DisclosurePost(**json.loads(line)) for line in lines]


def everyday_posts() -> list[str]:
    """Posts that say nothing outright about any topic."""
    return (FOLDER / EVERYDAY).read_text(encoding="utf-8").splitlines()


def tally_of(posts: list[DisclosurePost]) -> DisclosureTally:
    """Count what the shipped rules say against the labels."""
    return tally_by(DisclosureReader(), posts)


def tally_by(reader: DisclosureReader, posts: list[DisclosurePost]) -> DisclosureTally:
    """Count what a reader says against the labels."""
    failures, told = Counter[str](), Counter[tuple[bool, bool]]()
    for post in posts:
        levels = {each.topic: each.level for each in reader.read(post.text)}
        said = levels.get(post.topic) is DisclosureLevel.OUTRIGHT
        told[said, post.outright] += 1
        failures[post.kind] += said != post.outright
    return DisclosureTally(
        told[True, True], told[False, True], told[True, False], dict(sorted(failures.items()))
    )


def wilson(hits: int, number: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson, 1927)."""
    z, share = 1.959964, hits / number
    middle = share + z * z / (2 * number)
    half = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    return (middle - half) / (1 + z * z / number), (middle + half) / (1 + z * z / number)


if __name__ == "__main__":
    for file in [Path(given).absolute() for given in sys.argv[1:]] or FILES:
        sys.stdout.write(f"{file} {tally_of(disclosure_posts(file)).figures}\n")

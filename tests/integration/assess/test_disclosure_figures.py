"""How often the signal is right, on posts that were written before its rules."""

import math
from collections import Counter

import pytest
from support.disclosure_posts import JUDGED, OPEN, disclosure_posts

from sottovoce.assess.disclosure import DisclosureLevel, DisclosureReader

# Seen when the rules were finished; a change of the rules may not fall below.
LEAST = {OPEN: (0.98, 0.98), JUDGED: (0.81, 0.88)}


def wilson(hits: int, number: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson, 1927)."""
    z, share = 1.959964, hits / number
    middle = share + z * z / (2 * number)
    half = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    return (middle - half) / (1 + z * z / number), (middle + half) / (1 + z * z / number)


@pytest.mark.parametrize("name", [OPEN, JUDGED])
def test_recall_and_precision_of_what_is_said_outright(name: str) -> None:
    """Prints totals by kind and no post: the judged file is for counting."""
    reader, failures, tally = DisclosureReader(), Counter[str](), Counter[tuple[bool, bool]]()
    for post in disclosure_posts(name):
        levels = {each.topic: each.level for each in reader.read(post.text)}
        said = levels.get(post.topic) is DisclosureLevel.OUTRIGHT
        tally[said, post.outright] += 1
        failures[post.kind] += said != post.outright
    hits, missed, wrong = tally[True, True], tally[False, True], tally[True, False]
    recall, precision = hits / (hits + missed), hits / (hits + wrong)
    figures = {
        "recall": (recall, *wilson(hits, hits + missed)),
        "precision": (precision, *wilson(hits, hits + wrong)),
        "failures": dict(sorted(failures.items())),
    }
    print(name, figures)  # noqa: T201 - the figures, for whoever runs it with -s
    assert (recall >= LEAST[name][0], precision >= LEAST[name][1]) == (True, True)


def test_a_reader_that_says_everything_is_outright_would_be_noticed() -> None:
    posts = disclosure_posts(OPEN)
    outright = sum(post.outright for post in posts)
    assert outright / len(posts) < LEAST[OPEN][1]

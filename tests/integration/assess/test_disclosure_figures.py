"""How often the signal is right: on the open posts of ours, and on everyday posts."""

import pytest
from support.disclosure_posts import (
    BLIND,
    FILES,
    FORMER,
    FRESH,
    OPEN,
    disclosure_posts,
    everyday_posts,
    tally_of,
)

from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import DisclosureLevel

# Recall and precision that were seen when rules and weights were finished: a change of them may not
# fall below. Of posts that no writer of rules has seen (``BLIND``) .85 of both is wanted.
LEAST = {BLIND: (0.85, 0.85), FRESH: (0.94, 0.94), OPEN: (0.94, 0.97), FORMER: (0.98, 0.97)}
MOST_FALSE_ALARMS = 2


@pytest.mark.parametrize("name", FILES)
def test_recall_and_precision_of_what_is_said_outright(name: str) -> None:
    """Prints totals by kind and no post: a judged file is for counting."""
    tally = tally_of(disclosure_posts(name))
    print(name, tally.figures)  # noqa: T201 - the figures, for whoever runs it with -s
    assert (tally.recall >= LEAST[name][0], tally.precision >= LEAST[name][1]) == (True, True)


def test_a_reader_that_says_everything_is_outright_would_be_noticed() -> None:
    for name in FILES:
        posts = disclosure_posts(name)
        assert sum(post.outright for post in posts) / len(posts) < LEAST[name][1]


def test_everyday_posts_in_the_first_person_say_nothing_outright() -> None:
    reader = DisclosureReader()
    alarms = [
        text
        for text in everyday_posts()
        if any(told.level is DisclosureLevel.OUTRIGHT for told in reader.read(text))
    ]
    assert len(alarms) <= MOST_FALSE_ALARMS

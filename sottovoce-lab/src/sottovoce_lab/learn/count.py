"""What whole documents show when they are counted together: topics and classes, at pure epsilon.

No paper has such a table. Four peers count together, of whom one may work against the others; the
words are declared public. Beside each reader stands what a local release gives at the same epsilon
for the same unit, a whole document. ``--data``, ``--seeds``, ``--documents`` and ``--readers`` run
a part, and what is done in ``--out`` is not done again.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sottovoce.errors import MissingExtraError, ParameterError, check_choice
from sottovoce.report.result import Row, StudyResult
from sottovoce_lab._data import SIMULATED, DataAbsentError, data_file
from sottovoce_lab.learn._count_classes import (
    SMS,
    WORDS,
    class_rows,
    labelled_texts,
    with_other_words,
)
from sottovoce_lab.learn._count_figures import plots_of
from sottovoce_lab.learn._count_processes import process_rows
from sottovoce_lab.learn._count_topics import pair_corpora, pair_rows
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release.parts import PartStore
from sottovoce_lab.release.pinned import is_here

SHOWN = ("data", "words", "epsilon", "reader", "score", "mean", "low", "high")
WIDE = ("documents", "S", "parties", "collude", "drop", "seeds", "reference")
MESSAGES = "messages"
TOPICS = 25
NOTES = (
    (
        "Four peers, of whom one may collude and none drops out: the sum has 4/3 of the noise that "
        "the promise needs. Epsilon is pure, for adding or removing a whole document."
    ),
    (
        "Topics: the Jaccard of 20 top words with LDA of the true text (tomotopy, three seeds, "
        "1,000 words, restricted to those that are counted); reference is what the three reach "
        "with one another. topics_seen counts those with a Jaccard above .3 with most references."
    ),
    (
        "Classes: the share of held out texts with a wrong label, five folds; reference is the "
        "same reader without noise. The words are the most frequent ones, declared public, or "
        "those of another corpus."
    ),
    (
        "A local release at equal epsilon for equal unit: every document adds whole noise to its "
        "own votes. The sum of D documents then has the noise of D draws instead of 4/3."
    ),
)


@dataclass(frozen=True)
class CountSizes:
    """How much work the study does."""

    seeds: int = 5
    documents: int | None = None
    topics: int = TOPICS
    pairs: tuple[tuple[str, tuple[int, ...]], ...] = (
        ("blogs", (300, 1_000)),
        ("complaints", (300, 1_000)),
    )
    pair_epsilons: tuple[Fraction, ...] = tuple(Fraction(each) for each in ("1/2", "1", "2", "4"))
    words: int = WORDS
    epsilons: tuple[Fraction, ...] = tuple(Fraction(each) for each in ("1/2", "1", "2", "4"))
    between: tuple[Fraction, ...] = (Fraction(1), Fraction(2))


QUICK = CountSizes(
    seeds=1,
    documents=400,
    topics=3,
    pairs=((SIMULATED, (40,)),),
    pair_epsilons=(Fraction(4),),
    words=64,
    epsilons=(Fraction(2),),
    between=(Fraction(2),),
)
DATA = ("blogs", "complaints", MESSAGES, SIMULATED)


def run_learn_count(options: StudyOptions) -> StudyResult:
    """The study as the command line asks for it."""
    readers = tuple(READERS) if options.readers is None else tuple(options.readers.split(","))
    for reader in readers:
        check_choice("readers", reader, READERS)
    if options.data is not None:
        check_choice("data", options.data, DATA)
    sizes, store = _sizes(options), PartStore.within(options.out)
    rows = [row for reader in readers for row in READERS[reader](options.data, sizes, store)]
    if not rows:
        raise ParameterError("no data set that is here has what these readers need; see --data.")
    return StudyResult(tuple(rows), plots_of(rows), SHOWN, NOTES, WIDE)


def _sizes(options: StudyOptions) -> CountSizes:
    base = QUICK if options.quick else CountSizes()
    if options.data == SIMULATED and not options.quick:
        base = replace(base, pairs=((SIMULATED, (300,)),), documents=20_000)
    return replace(
        base,
        documents=options.documents or base.documents,
        seeds=options.seeds or base.seeds,
    )


def topics_part(data: str | None, sizes: CountSizes, store: PartStore) -> list[Row]:
    """Topics of pairs, by corpus and number of words."""
    rows: list[Row] = []
    for name, most in sizes.pairs:
        if data not in {None, name} or not _at_hand(name):
            continue
        if name != SIMULATED and importlib.util.find_spec("tomotopy") is None:
            raise MissingExtraError("tomotopy", "topics")
        corpora = pair_corpora(
            name, most, store=store, documents=sizes.documents, topics=sizes.topics
        )
        for corpus in corpora:
            rows += pair_rows(corpus, sizes.pair_epsilons, sizes.seeds, store)
    return rows


def classes_part(data: str | None, sizes: CountSizes, store: PartStore) -> list[Row]:
    """A classifier of messages, by their own words and by those of another corpus."""
    name = _texts(data, sizes)
    if name is None:
        return []
    given = labelled_texts(name, words=sizes.words, documents=sizes.documents)
    rows = class_rows(given, sizes.epsilons, sizes.seeds, store)
    if given.name == SMS and is_here("blogs"):
        other = with_other_words(given, "blogs", sizes.words)
        rows += class_rows(other, sizes.epsilons, sizes.seeds, store)
    return rows


def processes_part(data: str | None, sizes: CountSizes, store: PartStore) -> list[Row]:
    """The same between real processes."""
    name = _texts(data, sizes)
    if name is None:
        return []
    given = labelled_texts(name, words=sizes.words, documents=sizes.documents)
    return process_rows(given, sizes.between, sizes.seeds, store)


def _texts(data: str | None, sizes: CountSizes) -> str | None:
    """The data set with labels that is asked for and here; None: there is none."""
    drawn = data == SIMULATED or (data is None and sizes.pairs[0][0] == SIMULATED)
    name = SIMULATED if drawn else MESSAGES
    return name if data in {None, name} and _at_hand(name) else None


def _at_hand(name: str) -> bool:
    if name == SIMULATED:
        return True
    if name != MESSAGES:
        return is_here(name)
    try:
        data_file("sms.tsv")
    except DataAbsentError:
        return False
    return True


Part = Callable[[str | None, CountSizes, PartStore], Sequence[Row]]
READERS: dict[str, Part] = {
    "topics": topics_part,
    "classes": classes_part,
    "processes": processes_part,
}

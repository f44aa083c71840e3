"""Examples for the studies of learn, and how often a classifier errs on them.

The paper's data set is UCI Ionosphere: 351 radar returns, 34 numbers each, good or bad. Two classes
of texts become rows of zeros and ones: which of a few hundred words each text uses. The words are
the most frequent ones, chosen by looking at the texts: a study only measures; peers would agree on
a public list. A federation that only needs something to train on has made-up texts.

Errors are counted on rows at hand, or on those that each fold holds out.
"""

import csv
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.corpus.read.corpus import Corpus, open_documents
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import CorpusError
from sottovoce.learn.documents import Documents
from sottovoce.parsing import check_choice
from sottovoce_lab._data import CountedCorpus, count_documents, data_file, open_complaints

_COLUMNS = 35


class Examples(NamedTuple):
    """Rows of numbers, and a sign for each."""

    rows: Floats
    signs: Floats


def ionosphere() -> Examples:
    """All examples; good returns are 1, bad ones -1."""
    with data_file("ionosphere.csv").open(newline="", encoding="utf-8") as lines:
        table = [line for line in csv.reader(lines) if line]
    if {len(line) for line in table} != {_COLUMNS}:
        raise CorpusError(f"ionosphere.csv must have {_COLUMNS} columns in every line.")
    rows = np.array([line[:-1] for line in table], np.float64)
    return Examples(rows, np.array([1.0 if line[-1] == "g" else -1.0 for line in table]))


_COMMON = 40
_TOPICAL = 12
_LENGTH = 14


def made_up_documents(count: int, seed: int) -> Documents:
    """Texts of made-up words; a few of them are likelier under one label than under the other."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, count)
    return Documents.from_texts(
        [_text(chance, int(label)) for label in labels],
        [("garden", "kitchen")[label] for label in labels],
    )


def _text(chance: np.random.Generator, label: int) -> str:
    common = [f"common{word}" for word in chance.integers(0, _COMMON, _LENGTH)]
    about = label if chance.random() < 0.9 else 1 - label  # noqa: PLR2004 - some are misled
    topical = [f"topic{about}word{word}" for word in chance.integers(0, _TOPICAL, 3)]
    return " ".join(chance.permutation([*common, *topical]))


TEXTS = ("SMS spam", "complaints")


def text_examples(name: str, *, words: int, documents: int | None = None) -> Examples:
    """Texts by words; 1 is spam of SMS, the commonest product of complaints, -1 the next one."""
    check_choice("texts", name, TEXTS)
    corpus = count_documents(_open_corpus(name), name, words).shuffle_documents()
    positive, negative = _classes(name, corpus)
    chosen = [at for at, label in enumerate(corpus.labels) if label in {positive, negative}]
    chosen = chosen[:documents]
    rows = (corpus.counts[chosen].toarray() > 0).astype(np.float64)
    signs = np.array([1.0 if corpus.labels[at] == positive else -1.0 for at in chosen])
    return Examples(rows, signs)


def _open_corpus(name: str) -> Corpus:
    if name == "complaints":
        return open_complaints(data_file("cfpb.jsonl"))
    options = ReadOptions(header=("label", "text"))
    return open_documents(data_file("sms.tsv"), options=options)


def _classes(name: str, corpus: CountedCorpus) -> tuple[str, str]:
    if name == "SMS spam":
        return "spam", "ham"
    (first, _), (second, _) = Counter(corpus.labels).most_common(2)
    return first, second


Fit = Callable[[Examples], Any]


def error_rate(fitted: Any, examples: Examples) -> float:  # noqa: ANN401 - a scikit-learn classifier
    """The share of examples with the wrong label."""
    return float(np.mean(fitted.predict(examples.rows) != examples.signs))


def held_out_rate(fit: Fit, examples: Examples, folds: int) -> float:
    """The same by cross-validation, every row held out once."""
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - of the extra

    split = StratifiedKFold(folds, shuffle=True, random_state=0).split(*examples)

    def choose(places: NDArray[np.intp]) -> Examples:
        return Examples(examples.rows[places], examples.signs[places])

    wrong = sum(error_rate(fit(choose(known)), choose(held)) * len(held) for known, held in split)
    return wrong / len(examples.rows)

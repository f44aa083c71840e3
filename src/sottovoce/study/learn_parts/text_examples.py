"""Two classes of texts as rows of zeros and ones: which of a few hundred words each text uses.

The words are the most frequent ones, chosen by looking at the texts: a study only measures. Peers
would agree on a public list.
"""

from collections import Counter

import numpy as np

from sottovoce.corpus.reading import Corpus, ReadOptions, open_documents
from sottovoce.data import data_file
from sottovoce.errors import check_choice
from sottovoce.study.corpora import CountedCorpus, counted, open_complaints
from sottovoce.study.learn_parts.ionosphere import Examples

TEXTS = ("SMS spam", "complaints")


def text_examples(name: str, *, words: int, documents: int | None = None) -> Examples:
    """Texts by words; 1 is spam of SMS, the commonest product of complaints, -1 the next one."""
    check_choice("texts", name, TEXTS)
    corpus = counted(_opened(name), name, words).shuffled()
    positive, negative = _classes(name, corpus)
    chosen = [at for at, label in enumerate(corpus.labels) if label in {positive, negative}]
    chosen = chosen[:documents]
    rows = (corpus.counts[chosen].toarray() > 0).astype(np.float64)
    signs = np.array([1.0 if corpus.labels[at] == positive else -1.0 for at in chosen])
    return Examples(rows, signs)


def _opened(name: str) -> Corpus:
    if name == "complaints":
        return open_complaints(data_file("cfpb.jsonl"))
    options = ReadOptions(header=("label", "text"))
    return open_documents(data_file("sms.tsv"), options=options)


def _classes(name: str, corpus: CountedCorpus) -> tuple[str, str]:
    if name == "SMS spam":
        return "spam", "ham"
    (first, _), (second, _) = Counter(corpus.labels).most_common(2)
    return first, second

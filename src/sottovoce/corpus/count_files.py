"""From a corpus to a folder of counts, in bounded memory."""

from dataclasses import dataclass
from pathlib import Path

from sottovoce.corpus.counting import count_batches, term_statistics
from sottovoce.corpus.matrix_file import write_matrix
from sottovoce.corpus.reading import Corpus
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.files import output_folder, whole_file

COUNTS_FILE = "counts.npz"
VOCABULARY_FILE = "vocabulary.txt"


@dataclass(frozen=True)
class WrittenCounts:
    """What a folder of counts holds."""

    rows: int
    cells: int
    vocabulary: Vocabulary


def count_to_folder(
    corpus: Corpus,
    folder: Path,
    rules: TokenRules,
    *,
    vocabulary: Vocabulary | None = None,
    min_texts: int = 1,
    max_terms: int | None = None,
) -> WrittenCounts:
    """Write counts.npz and vocabulary.txt, both or neither.

    Without a vocabulary the corpus is read twice: once to choose the terms, once to count them.
    """
    if vocabulary is None:
        statistics = term_statistics((batch["text"] for batch in corpus), rules)
        vocabulary = statistics.vocabulary(min_texts=min_texts, max_terms=max_terms)
    output_folder(folder)
    with (
        whole_file(folder / COUNTS_FILE, private=True) as counts,
        # The words a private corpus chose are as private as its counts.
        whole_file(folder / VOCABULARY_FILE, private=vocabulary.data_dependent) as terms,
    ):
        blocks = count_batches((batch["text"] for batch in corpus), vocabulary, rules)
        rows, cells = write_matrix(counts, blocks, len(vocabulary))
        terms.write_text(vocabulary.as_text(), encoding="utf-8")
    return WrittenCounts(rows, cells, vocabulary)

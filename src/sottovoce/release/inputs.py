"""What a release reads: the documents, and the public knowledge beside them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.corpus.counting import term_statistics
from sottovoce.corpus.reading import Corpus, ReadOptions, open_documents, open_posts
from sottovoce.corpus.reading.formats.choose import Source
from sottovoce.corpus.reading.tally import Tallied
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.corpus.words.stopwords import STOP_WORDS, load_stop_words
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.counts import Floats
from sottovoce.release.documents import Documents, count_documents
from sottovoce.release.exact import positive_integer
from sottovoce.release.plan import refuse_pairs

_UNDECLARED = (
    "{what} may tell something about the documents: give a public --vocabulary and a built-in "
    "stop list, or own up to it with --declare-data-dependent; the card will say so."
)


@dataclass(frozen=True)
class ReleaseInputs:
    """Where the documents and their words come from.

    Without a vocabulary the words are those of the documents, cut by ``min_texts`` and
    ``max_terms``. That, a vocabulary marked as data-dependent, and a stop list from a file are
    refused unless ``declared``.
    """

    corpus: Source
    reading: ReadOptions
    vocabulary: Vocabulary | None = None
    min_texts: int = 1
    max_terms: int | None = None
    stop_words: str | None = None
    user_documents: int | None = None
    declared: bool = False

    def __post_init__(self) -> None:
        """Refuse cuts of a list that is given."""
        if self.vocabulary is not None and (self.max_terms is not None or self.min_texts != 1):
            raise ParameterError(
                "--min-texts and --max-terms choose words; --vocabulary gives them."
            )
        if self.user_documents is not None:
            positive_integer(self.user_documents, "user documents")

    def open(self) -> Corpus:
        """The documents; with their users where these bound them."""
        opener = open_documents if self.user_documents is None else open_posts
        return opener(self.corpus, options=self.reading)

    def load(self, corpus: Corpus) -> tuple[Documents, tuple[str, ...]]:
        """The counted documents, and what about their words was declared."""
        rules = TokenRules(stop_words=load_stop_words(self.stop_words))
        declared = self.declarations(self.vocabulary)
        vocabulary = self.vocabulary or self._chosen_words(corpus, rules)
        refuse_pairs(vocabulary.terms)
        documents = count_documents(corpus, vocabulary, rules, per_user=self.user_documents)
        return documents, declared + self.left_out(corpus)

    def _chosen_words(self, corpus: Corpus, rules: TokenRules) -> Vocabulary:
        statistics = term_statistics((batch["text"] for batch in corpus), rules)
        return statistics.vocabulary(min_texts=self.min_texts, max_terms=self.max_terms)

    def left_out(self, corpus: Tallied) -> tuple[str, ...]:
        """That a document is missing depends on what it holds: no noise covers that."""
        left_out = corpus.tally.skipped.total()
        if left_out and not self.declared:
            raise ParameterError(
                f"{left_out} rows could not be used ({corpus.tally}); that they are missing tells "
                "something about them. Mend them, or own up to it with --declare-data-dependent."
            )
        return ("rows that could not be used were left out",) if left_out else ()

    def declarations(self, vocabulary: Vocabulary | None) -> tuple[str, ...]:
        """What about the words may tell something of the documents, and was owned up to."""
        found = []
        if vocabulary is None or vocabulary.data_dependent:
            found.append("a vocabulary that the data chose")
        if self.stop_words is not None and self.stop_words not in STOP_WORDS:
            found.append("a stop list from a file")
        if found and not self.declared:
            raise ParameterError(_UNDECLARED.format(what=" and ".join(found)))
        return tuple(found)


def load_frequencies(path: Path, vocabulary: Vocabulary) -> Floats:
    """Public frequencies from lines "word, tab, number"; words that are not listed get none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        pairs = [line.rsplit("\t", 1) for line in lines if line.strip()]
        listed = {word: float(number) for word, number in pairs}
    except (OSError, UnicodeDecodeError, ValueError):
        raise CorpusError(f"{path} must be readable lines of a word, a tab and a number.") from None
    frequencies = np.array([listed.get(term, 0.0) for term in vocabulary.terms])
    if not np.isfinite(frequencies).all() or frequencies.min() < 0:
        raise CorpusError(f"the frequencies in {path} must be finite and >= 0.")
    if not frequencies.any():
        raise CorpusError(f"{path} lists none of the vocabulary's words.")
    # A word without a listed frequency is rare, not impossible.
    return np.where(frequencies > 0, frequencies, frequencies[frequencies > 0].min() / 2)

"""Posts and documents in; words, vocabularies and count matrices out; simulated communities.

Begin with `read`, which opens a corpus as a stream of record batches. `words` says what a word is
and finds the words of a text, `_count` counts them by a `_vocabulary`, and `simulate` makes
communities with known personas.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Corpus",
    "ReadOptions",
    "SimulatedCommunity",
    "SimulationParameters",
    "TokenRules",
    "Vocabulary",
    "count",
    "count_batches",
    "open_documents",
    "open_posts",
    "summarise_posts",
    "tokenize",
]

if TYPE_CHECKING:
    from sottovoce.corpus.counts import count, count_batches
    from sottovoce.corpus.read.corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.read.tally import ReadOptions
    from sottovoce.corpus.simulate.community import SimulatedCommunity
    from sottovoce.corpus.simulate.parameters import SimulationParameters
    from sottovoce.corpus.summary import summarise_posts
    from sottovoce.corpus.vocabulary import Vocabulary
    from sottovoce.corpus.words.codes import tokenize
    from sottovoce.corpus.words.rules import TokenRules
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Corpus": "sottovoce.corpus.read.corpus",
            "ReadOptions": "sottovoce.corpus.read.tally",
            "SimulatedCommunity": "sottovoce.corpus.simulate.community",
            "SimulationParameters": "sottovoce.corpus.simulate.parameters",
            "TokenRules": "sottovoce.corpus.words.rules",
            "Vocabulary": "sottovoce.corpus.vocabulary",
            "count": "sottovoce.corpus.counts",
            "count_batches": "sottovoce.corpus.counts",
            "open_documents": "sottovoce.corpus.read.corpus",
            "open_posts": "sottovoce.corpus.read.corpus",
            "summarise_posts": "sottovoce.corpus.summary",
            "tokenize": "sottovoce.corpus.words.codes",
        },
    )

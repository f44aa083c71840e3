"""Posts and documents in; words, vocabularies and count matrices out; simulated communities.

Begin with `read`, which opens a corpus as a stream of record batches. `words` says what a word is
and finds the words of a text, `_count` counts them by a `_vocabulary`, and `simulate` makes
communities with known personas.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

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
    from sottovoce.corpus._count import count, count_batches
    from sottovoce.corpus._summary import summarise_posts
    from sottovoce.corpus._vocabulary import Vocabulary
    from sottovoce.corpus.read._corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.read._tally import ReadOptions
    from sottovoce.corpus.simulate._community import SimulatedCommunity
    from sottovoce.corpus.simulate._parameters import SimulationParameters
    from sottovoce.corpus.words._codes import tokenize
    from sottovoce.corpus.words._rules import TokenRules
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Corpus": "sottovoce.corpus.read._corpus",
            "ReadOptions": "sottovoce.corpus.read._tally",
            "SimulatedCommunity": "sottovoce.corpus.simulate._community",
            "SimulationParameters": "sottovoce.corpus.simulate._parameters",
            "TokenRules": "sottovoce.corpus.words._rules",
            "Vocabulary": "sottovoce.corpus._vocabulary",
            "count": "sottovoce.corpus._count",
            "count_batches": "sottovoce.corpus._count",
            "open_documents": "sottovoce.corpus.read._corpus",
            "open_posts": "sottovoce.corpus.read._corpus",
            "summarise_posts": "sottovoce.corpus._summary",
            "tokenize": "sottovoce.corpus.words._codes",
        },
    )

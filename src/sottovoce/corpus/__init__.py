"""Posts and documents in; tokens, vocabulary and count matrices out; simulated communities."""

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
    "open_documents",
    "open_posts",
    "summarise_posts",
    "tokenize",
]

if TYPE_CHECKING:
    from sottovoce.corpus._count import count
    from sottovoce.corpus._summary import summarise_posts
    from sottovoce.corpus._vocabulary import Vocabulary
    from sottovoce.corpus.read._corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.read._tally import ReadOptions
    from sottovoce.corpus.simulate._community import SimulatedCommunity
    from sottovoce.corpus.simulate._parameters import SimulationParameters
    from sottovoce.corpus.words._rules import TokenRules
    from sottovoce.corpus.words._tokens import tokenize
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "SimulatedCommunity": "sottovoce.corpus.simulate._community",
            "Corpus": "sottovoce.corpus.read._corpus",
            "ReadOptions": "sottovoce.corpus.read._tally",
            "SimulationParameters": "sottovoce.corpus.simulate._parameters",
            "TokenRules": "sottovoce.corpus.words._rules",
            "Vocabulary": "sottovoce.corpus._vocabulary",
            "count": "sottovoce.corpus._count",
            "open_documents": "sottovoce.corpus.read._corpus",
            "open_posts": "sottovoce.corpus.read._corpus",
            "summarise_posts": "sottovoce.corpus._summary",
            "tokenize": "sottovoce.corpus.words._tokens",
        },
    )

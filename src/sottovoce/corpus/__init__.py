"""Posts and documents in; tokens, vocabulary and count matrices out; simulated communities."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "Community",
    "Corpus",
    "ReadOptions",
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
    from sottovoce.corpus.counting import count
    from sottovoce.corpus.reading.corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.reading.options import ReadOptions
    from sottovoce.corpus.simulate.community import Community
    from sottovoce.corpus.simulate.parameters import SimulationParameters
    from sottovoce.corpus.summary import summarise_posts
    from sottovoce.corpus.vocabulary import Vocabulary
    from sottovoce.corpus.words.rules import TokenRules
    from sottovoce.corpus.words.tokens import tokenize
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Community": "sottovoce.corpus.simulate.community",
            "Corpus": "sottovoce.corpus.reading.corpus",
            "ReadOptions": "sottovoce.corpus.reading.options",
            "SimulationParameters": "sottovoce.corpus.simulate.parameters",
            "TokenRules": "sottovoce.corpus.words.rules",
            "Vocabulary": "sottovoce.corpus.vocabulary",
            "count": "sottovoce.corpus.counting",
            "open_documents": "sottovoce.corpus.reading.corpus",
            "open_posts": "sottovoce.corpus.reading.corpus",
            "summarise_posts": "sottovoce.corpus.summary",
            "tokenize": "sottovoce.corpus.words.tokens",
        },
    )

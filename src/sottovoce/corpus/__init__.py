"""Posts and documents in; words, vocabularies and count matrices out; simulated communities.

Begin with `read`, which opens a corpus as a stream of record batches. `words` says what a word is
and finds the words of a text, `counts` counts them by a `vocabulary`, and `simulate` makes
communities with known personas.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

if TYPE_CHECKING:
    from sottovoce.corpus.counts import count as count
    from sottovoce.corpus.counts import count_batches as count_batches
    from sottovoce.corpus.read.corpus import Corpus as Corpus
    from sottovoce.corpus.read.corpus import open_documents as open_documents
    from sottovoce.corpus.read.corpus import open_posts as open_posts
    from sottovoce.corpus.read.tally import ReadOptions as ReadOptions
    from sottovoce.corpus.simulate.community import SimulatedCommunity as SimulatedCommunity
    from sottovoce.corpus.simulate.parameters import SimulationParameters as SimulationParameters
    from sottovoce.corpus.summary import summarise_posts as summarise_posts
    from sottovoce.corpus.vocabulary import Vocabulary as Vocabulary
    from sottovoce.corpus.words.codes import tokenize as tokenize
    from sottovoce.corpus.words.rules import TokenRules as TokenRules
else:
    __getattr__, __dir__ = attach(__name__)

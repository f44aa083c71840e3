"""Topics from how often words stand together, whoever counted it and with whatever noise.

Begin with `_factorise`: a matrix of pairs in, topics out; `_leading` says where the search for
them starts. `_noised` reads votes for pairs whose noise has a known variance in every cell, by the
search of `_weighted`.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = ["NoisedPairTopics", "PairTopics", "noised_pair_topics", "pair_topics"]

if TYPE_CHECKING:
    from sottovoce.topics.cooccurrence._factorise import PairTopics, pair_topics
    from sottovoce.topics.cooccurrence._noised import NoisedPairTopics, noised_pair_topics
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "NoisedPairTopics": "sottovoce.topics.cooccurrence._noised",
            "PairTopics": "sottovoce.topics.cooccurrence._factorise",
            "noised_pair_topics": "sottovoce.topics.cooccurrence._noised",
            "pair_topics": "sottovoce.topics.cooccurrence._factorise",
        },
        extra="topics",
    )

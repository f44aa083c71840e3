"""Topics from how often words stand together, whoever counted it and with whatever noise.

Begin with `_factorise`: a matrix of pairs in, topics out; `_leading` says where the search for
them starts.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = ["PairTopics", "pair_topics"]

if TYPE_CHECKING:
    from sottovoce.topics.cooccurrence._factorise import PairTopics, pair_topics
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "PairTopics": "sottovoce.topics.cooccurrence._factorise",
            "pair_topics": "sottovoce.topics.cooccurrence._factorise",
        },
        extra="topics",
    )

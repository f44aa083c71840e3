"""Count together: one noised secure sum over all peers' documents, each document hidden whole.

Begin with `count_together`: one call, which gives back a `TogetherCounts`. Every document casts a
few votes (`_votes`), each peer adds up those of its documents and its share of the noise, and only
the sum over all peers is opened. `_recipe` says how many votes, how much noise, and how many peers
may drop out or collude; `_promise` what then holds, `_spend` that it is paid for before noise is
drawn, `_sum` how the parties add, `_opened` what comes out. `_topics` and `_classes` read
topics and a classifier from it.

Who sees what. The coordinator and every peer see the opened sum, which is pure differentially
private for adding or removing a whole document. Nobody sees a peer's own sum, or how many documents
it has.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "CountedClassifier",
    "CountedTopics",
    "TogetherCounts",
    "count_together",
    "counted_classifier",
    "counted_topics",
]

if TYPE_CHECKING:
    from sottovoce.learn.count._topics import CountedTopics, counted_topics
    from sottovoce.learn.count.classes import CountedClassifier, counted_classifier
    from sottovoce.learn.count.opened import TogetherCounts
    from sottovoce.learn.count_together import count_together
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "CountedClassifier": "sottovoce.learn.count.classes",
            "CountedTopics": "sottovoce.learn.count._topics",
            "TogetherCounts": "sottovoce.learn.count.opened",
            "count_together": "sottovoce.learn.count_together",
            "counted_classifier": "sottovoce.learn.count.classes",
            "counted_topics": "sottovoce.learn.count._topics",
        },
        extra="learn",
    )

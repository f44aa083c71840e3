"""Sottovoce: assess, release and learn from private text.

    import sottovoce as sv

    ranking = sv.assess_posts(posts, topics="topics.toml")
    released = sv.release_counts(documents, words=words, epsilon=2, precision=2, ledger="my.ledger")
    classifier = sv.train(holders)
    counted = sv.count_together(holders, words=words, epsilon=1)

Each call does what its command does, on a path, a data frame or rows. Names here are loaded when
they are first used: importing the package takes no time and needs no extra.
"""

from sottovoce.lazy import TYPE_CHECKING, attach

__all__ = [
    "__version__",
    "assess",
    "assess_posts",
    "corpus",
    "count_together",
    "disclosures",
    "learn",
    "load_release",
    "loop",
    "make_statement",
    "privacy",
    "release",
    "release_counts",
    "simulate",
    "topics",
    "train",
]

if TYPE_CHECKING:
    from sottovoce import assess, corpus, learn, loop, privacy, release, topics
    from sottovoce._version import __version__
    from sottovoce.assess import assess_posts
    from sottovoce.assess.disclosure.disclosures import disclosures
    from sottovoce.corpus.simulate import simulate
    from sottovoce.learn import train
    from sottovoce.learn.count import count_together
    from sottovoce.release import load_release, release_counts
    from sottovoce.statement import make_statement
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "__version__": "sottovoce._version",
            "assess": "sottovoce.assess",
            "assess_posts": "sottovoce.assess",
            "corpus": "sottovoce.corpus",
            "count_together": "sottovoce.learn.count",
            "disclosures": "sottovoce.assess.disclosure.disclosures",
            "learn": "sottovoce.learn",
            "load_release": "sottovoce.release",
            "loop": "sottovoce.loop",
            "make_statement": "sottovoce.statement",
            "privacy": "sottovoce.privacy",
            "release": "sottovoce.release",
            "release_counts": "sottovoce.release",
            "simulate": "sottovoce.corpus.simulate",
            "topics": "sottovoce.topics",
            "train": "sottovoce.learn",
        },
    )

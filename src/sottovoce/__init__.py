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

if TYPE_CHECKING:
    from sottovoce import assess as assess
    from sottovoce import corpus as corpus
    from sottovoce import learn as learn
    from sottovoce import loop as loop
    from sottovoce import privacy as privacy
    from sottovoce import release as release
    from sottovoce import topics as topics
    from sottovoce._version import __version__ as __version__
    from sottovoce.assess import assess_posts as assess_posts
    from sottovoce.assess.disclosure.disclosures import disclosures as disclosures
    from sottovoce.corpus.simulate.write import simulate as simulate
    from sottovoce.learn import train as train
    from sottovoce.learn.count_together import count_together as count_together
    from sottovoce.release import load_release as load_release
    from sottovoce.release import release_counts as release_counts
    from sottovoce.statement import make_statement as make_statement
else:
    __getattr__, __dir__ = attach(__name__)

"""Word counts published under limited-precision local privacy.

Begin with `make`, which is the whole way: a request is counted by its `inputs`, worked out by a
`plan` and quoted (`quote`); a `job` spends, draws once and writes a `folder` with its `card`,
charged to the ledger that `privacy.ledger` finds. `compression` maps words to fewer columns,
`analysis` reads sums of a release, `classify` and `topics` learn from one, `audit` checks what was
published, and `trial` releases made-up documents the way that every release goes.
"""

from sottovoce.lazy import TYPE_CHECKING, attach

if TYPE_CHECKING:
    from sottovoce.privacy.guarantee import LimitedPrecision as LimitedPrecision
    from sottovoce.privacy.ledger.ledger import Ledger as Ledger
    from sottovoce.release.card import ReleaseCard as ReleaseCard
    from sottovoce.release.classify.bayes import PrivateNaiveBayes as PrivateNaiveBayes
    from sottovoce.release.compression.embedding import Embedding as Embedding
    from sottovoce.release.compression.embedding import (
        EmbeddingClusterCompression as EmbeddingClusterCompression,
    )
    from sottovoce.release.compression.embedding import (
        EmbeddingDisperseCompression as EmbeddingDisperseCompression,
    )
    from sottovoce.release.compression.frequency import FrequencyCompression as FrequencyCompression
    from sottovoce.release.compression.maps import RandomCompression as RandomCompression
    from sottovoce.release.estimator import PrivateBagOfWords as PrivateBagOfWords
    from sottovoce.release.make import release_counts as release_counts
    from sottovoce.release.quote import ReleaseQuote as ReleaseQuote
    from sottovoce.release.release import Release as Release
    from sottovoce.release.release import load_release as load_release
    from sottovoce.release.topics.estimator import PrivateTopics as PrivateTopics
else:
    __getattr__, __dir__ = attach(__name__, extra="release")

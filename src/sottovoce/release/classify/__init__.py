"""Classifiers that learn from a release and labels, and read true or released documents.

All of them know the law of the noise. `_features` is what they sum, `_shrink` how far a noisy mean
is trusted, `_expected` what a released cell says; `_rows` and `_sums` read documents block by
block, and `_choice` compares classifiers on released documents that were held out.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "PrivateLogistic",
    "PrivateNaiveBayes",
    "ReleasedDocumentsClassifier",
    "fit_released",
]

if TYPE_CHECKING:
    from sottovoce.release.classify._logistic import PrivateLogistic
    from sottovoce.release.classify.base import ReleasedDocumentsClassifier
    from sottovoce.release.classify.bayes import PrivateNaiveBayes
    from sottovoce.release.classify.choice import fit_released
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "PrivateLogistic": "sottovoce.release.classify._logistic",
            "PrivateNaiveBayes": "sottovoce.release.classify.bayes",
            "ReleasedDocumentsClassifier": "sottovoce.release.classify.base",
            "fit_released": "sottovoce.release.classify.choice",
        },
        extra="release",
    )

"""What a release says, read by the law of its noise.

Begin with `_moments`: unbiased sums over the documents, from which all else follows. `_totals` and
`_pairs` show them with intervals, `_meter` says how many dimensions stand above the noise, and
`_summary` puts these together. All of it is free post-processing of what was published.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Moments",
    "PairTotals",
    "ReleaseSummary",
    "SignalMeter",
    "TellingWords",
    "WordTotals",
    "released_moments",
]

if TYPE_CHECKING:
    from sottovoce.release.analysis.meter import SignalMeter
    from sottovoce.release.analysis.moments import Moments, released_moments
    from sottovoce.release.analysis.pairs import PairTotals
    from sottovoce.release.analysis.summary import ReleaseSummary
    from sottovoce.release.analysis.totals import TellingWords, WordTotals
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Moments": "sottovoce.release.analysis.moments",
            "PairTotals": "sottovoce.release.analysis.pairs",
            "ReleaseSummary": "sottovoce.release.analysis.summary",
            "SignalMeter": "sottovoce.release.analysis.meter",
            "TellingWords": "sottovoce.release.analysis.totals",
            "WordTotals": "sottovoce.release.analysis.totals",
            "released_moments": "sottovoce.release.analysis.moments",
        },
        extra="release",
    )

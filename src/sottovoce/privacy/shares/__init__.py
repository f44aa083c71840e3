"""Noise in shares: drawn by several parties, whole only in their sum.

`_law` has the negative binomial law between proven bounds, `_share` draws a party's share exactly,
and `_total` is what whoever reads an opened sum knows of the noise in it.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = ["NoiseShare", "SharesLaw"]

if TYPE_CHECKING:
    from sottovoce.privacy.shares.share import NoiseShare
    from sottovoce.privacy.shares.total import SharesLaw
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "NoiseShare": "sottovoce.privacy.shares.share",
            "SharesLaw": "sottovoce.privacy.shares.total",
        },
        extra="release",
    )

"""The same assessment and release on a cluster that runs Apache Spark, bit for bit.

`score_on_spark` ranks the users of a Spark DataFrame. The commands read and write through
``_assess`` and ``_release``, which tell how the work is divided; begin there.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = ["Precision", "RankSketch", "open_session", "score_on_spark"]

if TYPE_CHECKING:
    from sottovoce.assess._sketch.sketch import RankSketch
    from sottovoce.cluster._assess import score_on_spark
    from sottovoce.cluster._session import open_session
    from sottovoce.cluster._sketches import Precision
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Precision": "sottovoce.cluster._sketches",
            "RankSketch": "sottovoce.assess._sketch.sketch",
            "open_session": "sottovoce.cluster._session",
            "score_on_spark": "sottovoce.cluster._assess",
        },
        extra="spark",
    )

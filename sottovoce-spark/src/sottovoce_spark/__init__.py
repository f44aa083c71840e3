"""The same assessment and release on a cluster that runs Apache Spark, bit for bit.

`score_on_spark` ranks the users of a Spark DataFrame. The commands read and write through
``_assess`` and ``_release``, which tell how the work is divided; begin there.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = ["Precision", "RankSketch", "open_session", "score_on_spark"]

if TYPE_CHECKING:
    from sottovoce_spark.assess import score_on_spark
    from sottovoce_spark.rank_sketch import RankSketch
    from sottovoce_spark.session import open_session
    from sottovoce_spark.sketches import Precision
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Precision": "sottovoce_spark.sketches",
            "RankSketch": "sottovoce_spark.rank_sketch",
            "open_session": "sottovoce_spark.session",
            "score_on_spark": "sottovoce_spark.assess",
        },
        extra="spark",
    )

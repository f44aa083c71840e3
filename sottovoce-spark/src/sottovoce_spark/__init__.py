"""The same assessment and release on a cluster that runs Apache Spark, bit for bit.

`score_on_spark` ranks the users of a Spark DataFrame. The commands read and write through
``assess`` and ``release``, which tell how the work is divided; begin there.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

if TYPE_CHECKING:
    from sottovoce_spark.assess import score_on_spark as score_on_spark
    from sottovoce_spark.rank_sketch import RankSketch as RankSketch
    from sottovoce_spark.session import open_session as open_session
    from sottovoce_spark.sketches import Precision as Precision
else:
    __getattr__, __dir__ = attach(__name__, extra="spark")

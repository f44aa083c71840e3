"""A cluster for all tests of this folder."""

import os
import shutil
from collections.abc import Iterator

import pytest
from support.spark_cluster import Cluster

pytest.importorskip("pyspark", reason="pyspark is absent: pip install 'sottovoce[spark]'")


@pytest.fixture(scope="session")
def java() -> None:
    """Skip where there is none."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=f"{home}/bin" if home else None) is None:
        pytest.skip("Java is absent: Spark needs version 17 or newer")


@pytest.fixture(scope="session")
def cluster(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        started.start()
        yield started
    finally:
        started.stop()

"""A cluster for the tests of a module; one Spark at a time, however many processes run tests."""

import fcntl
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


@pytest.fixture(scope="module")
def turn(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Wait until no other process of this test run has a Spark; the system ends a dead one's turn.

    A module gives its turn back after its last test in this process, so none waits for the rest.
    """
    # Each process of xdist has a folder of its own in a common one.
    with (tmp_path_factory.getbasetemp().parent / "spark.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def cluster(turn: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        started.start()
        yield started
    finally:
        started.stop()

"""A Spark session that is quiet, private and does not wait for ever."""

import os
import shutil
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import InputError, MissingExtraError, ParameterError
from sottovoce_spark._output import Spark, is_sparks

LOCAL = "local[*]"
_CONNECT_S = 5.0
_STEP_S = 0.1
_SCHEME = "spark://"
# The page would show plans and the event log would keep them; both name files and columns.
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    # Memory outside the heap is given back when the heap is swept, which an idle one never is.
    "spark.network.io.preferDirectBufs": "false",
    "spark.log.level": "ERROR",
    "spark.python.worker.reuse": "true",
    "spark.sql.session.timeZone": "UTC",
    # What Spark writes is for its owner's eyes only, as all that holds ranks is.
    "spark.hadoop.fs.permissions.umask-mode": "077",
}
_OURS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.caseSensitive": "true",
}
_PART_BYTES = 64 << 20


@contextmanager
def open_session(
    master: str | None = None, *, settings: dict[str, str] | None = None, wait_s: float = 60.0
) -> Iterator[Spark]:
    """A session on ``master``: the one given, else the one `spark-submit` chose, else this machine.

    It is stopped at the end, unless it was there before.
    """
    session_class = _session_class()
    if session_class.getActiveSession() is not None:
        yield session_class.getActiveSession()
        return
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not submitted:
        check_java()
    check_master(master)
    session = _start_session(session_class, master, settings or {}, submitted)
    try:
        _wait_for_workers(session, wait_s)
        yield session
    finally:
        session.stop()


@contextmanager
def apply_settings(
    session: Spark,
    partitions: int | None = None,
    *,
    batch_rows: int = 16384,
    part_bytes: int = _PART_BYTES,
) -> Iterator[None]:
    """The session with our settings inside the block, and with its own after it."""
    parts = partitions or max(2, 2 * int(session.sparkContext.defaultParallelism))
    if parts < 1:
        raise ParameterError(f"partitions must be >= 1, got {parts}.")
    ours = {
        **_OURS,
        # One stretch of one file in each part, whatever the number of cores: rows keep their order.
        "spark.sql.files.maxPartitionBytes": str(part_bytes),
        "spark.sql.files.openCostInBytes": str(part_bytes),
        "spark.sql.shuffle.partitions": str(parts),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(batch_rows),
    }
    before = {name: session.conf.get(name, None) for name in ours}
    with warnings.catch_warnings():
        # Spark asks for pandas even where only Arrow is used, and grumbles at a new one.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        for name, value in ours.items():
            session.conf.set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, value)


def check_java() -> None:
    """Refuse before anything is started when there is no Java to start."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        looked = f"in JAVA_HOME, {home}" if home else "on the PATH, and JAVA_HOME is not set"
        raise InputError(
            f"Spark needs Java 17 or newer, got none {looked}; install a Java runtime, point "
            "JAVA_HOME at it, or use --engine embedded."
        )


def check_master(master: str | None) -> None:
    """Refuse a standalone master that nobody answers for; others are Spark's to judge."""
    if master is None or not master.startswith(_SCHEME):
        return
    addresses = master.removeprefix(_SCHEME).split(",")
    if not any(_answers(address, master) for address in addresses):
        raise InputError(
            f"no Spark master answers at {master} within {_CONNECT_S:.0f} s; start it, mend the "
            "address, or use --engine embedded."
        )


def _answers(address: str, master: str) -> bool:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port[:6]) < 1 << 16:
        raise ParameterError(f"a Spark master is written spark://HOST:PORT, got {master}.")
    try:
        with socket.create_connection((host, int(port)), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _session_class() -> Spark:
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, "spark") from None
    return SparkSession


def _start_session(
    session_class: Spark, master: str | None, settings: dict[str, str], submitted: bool
) -> Spark:
    builder = session_class.builder.appName("sottovoce")
    for name, value in {**_QUIET, **settings}.items():
        builder = builder.config(name, value)
    if master is not None or not submitted:
        builder = builder.master(master or os.environ.get("MASTER", LOCAL))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with _quiet_start():
            return builder.getOrCreate()
    except Exception:  # noqa: BLE001 - whatever Spark raises, it could not start
        raise InputError(
            f"Spark could not be started on {master or LOCAL}; see that its master runs and that "
            "its version is this pyspark's, or use --engine embedded."
        ) from None


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Let the Java machine that is started here write its greetings nowhere."""
    if os.environ.get("SOTTOVOCE_DEBUG"):
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _wait_for_workers(session: Spark, wait_s: float) -> None:
    """A master without workers takes a job and lets it lie: say so instead."""
    context = session.sparkContext
    master = context.master
    if master.startswith("local"):
        return
    deadline = time.monotonic() + wait_s
    while _executors(context) < 1:
        if time.monotonic() > deadline:
            raise InputError(
                f"the Spark master at {master} gave no worker within {wait_s:.0f} s; start "
                "workers, ask for less memory or fewer cores, or use --engine embedded."
            )
        time.sleep(_STEP_S)


def _executors(context: Spark) -> int:
    """How many workers have joined; a context that Spark gave up on is told."""
    try:
        tracker = context._jsc.sc().statusTracker()  # noqa: SLF001 - Python has no door to it
        # The driver is one of them.
        return len(tracker.getExecutorInfos()) - 1
    except Exception as error:
        if not is_sparks(error):
            raise
        raise InputError(
            "the Spark master took the connection and gave no answer; see that it is a master and "
            "that its version is this pyspark's."
        ) from None

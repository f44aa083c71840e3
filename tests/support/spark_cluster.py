"""A real standalone cluster: a master and two workers, each a process of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[2] / "src"
PATIENCE_S = 180.0
# Most of a short life of Java's is spent on compiling and on collectors' threads.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def wait_until(true: Callable[[], object], what: str) -> None:
    """Look again and again, for a bounded time."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.01)


@dataclass
class Cluster:
    """Processes on this machine, on ports that the system chose."""

    folder: Path
    url: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, str]:
        """Small executors that find this source tree."""
        return {
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": SHORT_LIVED,
            "spark.driver.extraJavaOptions": SHORT_LIVED,
            "spark.ui.enabled": "false",
            "spark.driver.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executorEnv.PYTHONPATH": str(SOURCES),
            "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
            "spark.shuffle.io.maxRetries": "1",
            "spark.shuffle.io.retryWait": "100ms",
        }

    @property
    def options(self) -> list[str]:
        """The same for the command line."""
        pairs = [f"{name}={value}" for name, value in self.settings.items()]
        return [word for pair in pairs for word in ("--spark-conf", pair)]

    def scratch(self, name: str) -> Path:
        """Where a worker's executors keep what they shuffle."""
        folder = self.folder / f"{name}.scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def start(self) -> None:
        log = self._run("master", "master.Master")
        found = _promised(log, rb"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        self.url = found.decode()
        for name in ("one", "two"):
            self.add_worker(name)

    def add_worker(self, name: str) -> None:
        arguments = ["--cores", "1", "--memory", "700m", "--work-dir", str(self.folder / name)]
        log = self._run(name, "worker.Worker", *arguments, self.url)
        _promised(log, rb"Successfully registered with master")

    def kill_worker(self, name: str) -> None:
        """A worker and all that it started, at once and without a word."""
        process = self.processes.pop(name)
        for child in (*_descendants(process.pid), process.pid):
            with _gone():
                os.kill(child, signal.SIGKILL)
        process.wait()

    def logs(self) -> bytes:
        """All that was logged by anybody."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("*/app-*/*/std*")]
        return b"".join(file.read_bytes() for file in files)

    def stop(self) -> None:
        for name in list(self.processes)[::-1]:
            self.kill_worker(name)

    def _run(self, name: str, kind: str, *arguments: str) -> Path:
        log = self.folder / f"{name}.log"
        import pyspark  # noqa: PLC0415 - an extra

        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
            "SPARK_LOCAL_DIRS": str(self.scratch(name)),
        }
        with log.open("wb") as out:
            self.processes[name] = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments],
                stdout=out,
                stderr=out,
                env=environment,
                cwd=self.folder,
            )
        return log


def start_command(*arguments: object, **options: Any) -> subprocess.Popen[str]:  # noqa: ANN401 - of Popen
    """A command of ours as a process; ``env`` is what it has beside this one's environment."""
    more = {"PYTHONPATH": str(SOURCES), "SPARK_LOCAL_IP": "127.0.0.1", **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "sottovoce.cli", *map(str, arguments)],
        env={**os.environ, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


class _gone:  # noqa: N801 - reads like contextlib's
    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is ProcessLookupError


def _promised(log: Path, pattern: bytes) -> bytes:
    found: list[bytes] = []

    def there() -> bool:
        found[:] = [match[match.lastindex or 0] for match in re.finditer(pattern, log.read_bytes())]
        return bool(found)

    wait_until(there, f"{pattern!r} in {log.name}")
    return found[0]


def _descendants(process: int) -> list[int]:
    listed = subprocess.run(
        ["/bin/ps", "-e", "-o", "pid=,ppid="], capture_output=True, check=True, text=True
    )
    pairs = [line.split() for line in listed.stdout.splitlines()]
    parent = {int(child): int(of) for child, of in pairs}
    found = [process]
    for known in found:
        found += [child for child, of in parent.items() if of == known]
    return found[:0:-1]

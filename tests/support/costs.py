"""What each test costs: the ten slowest are named after a run, and the whole has a limit.

Costs are processor seconds, of a test's own process and of those it started and waited for; a
fixture that tests share is counted with the first of them. A busy machine makes every test dearer:
a small fixed piece of work, timed again and again along the way, says by how much, and the limit
grows with it; it never shrinks.
"""

import gc
import json
import resource
import sys
import time
from collections.abc import Generator
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, cast

import pytest

SLOWEST_SHOWN = 10
YARDSTICK_S = 0.0059
"""What `_yardstick` takes on the idle machine for which limits are written."""
YARDSTICK_EVERY_S = 5.0
COST = "processor and wall seconds"
COLLECTED = pytest.StashKey[int]()
"""How many tests there were before some were left out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--processor-limit` fails a run that costs more; `--costs` keeps what each test cost."""
    group = parser.getgroup("costs")
    group.addoption("--processor-limit", type=float, metavar="SECONDS", default=None)
    group.addoption("--costs", type=Path, metavar="FILE", default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Workers measure and the process that leads them adds up; without workers one does both."""
    config.pluginmanager.register(_Costs(config), "sottovoce-costs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note how many there are: what a mark leaves out goes later."""
    config.stash[COLLECTED] = len(items)


def pytest_collection_finish() -> None:
    """Whoever collects garbage during the tests need not look through all of them, and imports."""
    gc.collect()
    gc.freeze()


class _Costs:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._yardsticks: list[float] = []
        self._looked_at = 0.0
        self._tests: dict[str, tuple[float, float]] = {}
        self._processor_s = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item
    ) -> Generator[None, bool | None, bool | None]:
        before, begun = _spent(), time.monotonic()
        if begun - self._looked_at > YARDSTICK_EVERY_S:
            self._looked_at = begun
            self._yardsticks.append(_yardstick())
        item.stash[_BEGAN] = before, begun
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            spent, begun = item.stash[_BEGAN]
            cost = _spent() - spent, time.monotonic() - begun
            report.user_properties.append((COST, cost))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, cost in report.user_properties:
            if name == COST:
                self._tests[report.nodeid] = cast("tuple[float, float]", cost)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["costs"] = _spent(), self._yardsticks
            return
        # Whoever leads workers has them among its children; they have told their costs.
        self._processor_s += time.process_time() if self._processor_s else _spent()
        if self._processor_s > self._limit():
            session.exitstatus = session.exitstatus or 1
        self._keep()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - of xdist, without types
        processor_s, yardsticks = getattr(node, "workeroutput", {}).get("costs", (0.0, []))
        self._processor_s += processor_s
        self._yardsticks += yardsticks

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write = terminalreporter.write_line
        terminalreporter.section("what the tests cost")
        slowest = sorted(self._tests.items(), key=lambda test: -test[1][0])
        write("processor s   wall s   the ten slowest")
        for name, (processor_s, wall_s) in slowest[:SLOWEST_SHOWN]:
            write(f"{processor_s:11.1f} {wall_s:8.1f}   {name}")
        write(
            f"{self._processor_s:11.1f}            all, on a machine {self._slower():.2f} times as "
            "slow as the idle one that limits are written for"
        )
        if (limit := self._limit()) < inf:
            over = self._processor_s > limit
            write(
                f"The limit is {limit:.0f} s here: {'EXCEEDED, find out why' if over else 'kept'}."
            )

    def _limit(self) -> float:
        """Seconds here: never fewer, for compiled work need not be as quick as the yardstick."""
        limit = self._config.getoption("--processor-limit")
        return inf if limit is None else float(limit) * max(1.0, self._slower())

    def _slower(self) -> float:
        return median(self._yardsticks or [YARDSTICK_S]) / YARDSTICK_S

    def _keep(self) -> None:
        path = self._config.getoption("--costs")
        if path is not None:
            told = {
                "processor_s": self._processor_s,
                "slower": self._slower(),
                "tests": self._tests,
            }
            path.write_text(json.dumps(told), encoding="utf-8")


_BEGAN = pytest.StashKey[tuple[float, float]]()


def _spent() -> float:
    """Processor seconds of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _yardstick() -> float:
    """Processor seconds of a little work of Python's, the least of three tries, not traced."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return min(_once() for _ in range(3))
    finally:
        sys.settrace(tracer)


def _once() -> float:
    began = time.thread_time()
    words = {str(number * 7919 % 10007): number for number in range(20_000)}
    sorted(words.items())
    return time.thread_time() - began

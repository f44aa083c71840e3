"""One small demo for all tests that look at its report, whichever process they run in."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.corpus.simulate import SimulationParameters
from sottovoce.demo._demo import REPORT_FILE, run_demo
from sottovoce.demo._loop import PLAN
from sottovoce.loop._knowledge import Training
from sottovoce.loop._loop import run_loop
from sottovoce.loop._usefulness import Effort
from support.warm_python import warm_parties

SIZES = SimulationParameters(users=100, weeks=4)
_QUICK_LOOP = replace(
    PLAN,
    methods=PLAN.methods[:1],
    epsilons=("8", "1"),
    effort=Effort(topics=10, iterations=10, most_tokens=20_000),
)
QUICK = Training(topics=100, iterations=20, burn_in=5, dimensions=8, epochs=1)


def train_loops_briefly(patch: pytest.MonkeyPatch) -> None:
    """What `loop` is asked for as it stands, with models that are trained for a moment."""
    effort = Effort(topics=5, iterations=10, most_tokens=20_000)
    patch.setattr("sottovoce.loop._subject.TRAINING", QUICK)
    patch.setattr(
        "sottovoce.loop._compare.run_loop",
        lambda subjects, plan: run_loop(subjects, replace(plan, effort=effort)),
    )


@contextmanager
def quick_demo() -> Iterator[None]:
    """Within the block, a demo trains no longer than its figures need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.demo._assess.TRAINING", QUICK)
        patch.setattr("sottovoce.demo._release.ITERATIONS", 5)
        patch.setattr("sottovoce.demo._release.SWEEPS", 5)
        patch.setattr("sottovoce.demo._release.DOCUMENTS", 1000)
        patch.setattr("sottovoce.demo._release.EPSILONS", ("6", "4"))
        patch.setattr("sottovoce.demo._loop.TRAINING", QUICK)
        patch.setattr("sottovoce.demo._loop.PLAN", _QUICK_LOOP)
        yield


def shared_report(common: Path) -> Path:
    """The report of the demo in a folder that processes share, made by the first that asks."""
    report = common / "demo" / REPORT_FILE
    with (common / "demo.lock").open("w") as lock, quick_demo(), warm_parties():
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not report.exists():
            run_demo(report.parent, SIZES)
    return report

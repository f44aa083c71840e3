"""One small demo for all tests that look at its report, whichever process they run in."""

import fcntl
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sottovoce.cli._app import app
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.demo._loop import PLAN
from sottovoce.demo.demo import REPORT_FILE
from sottovoce.loop.adversary import Training
from sottovoce.loop.loop import run_loop
from sottovoce.loop.subject import public_words
from sottovoce.loop.usefulness import Effort, Task
from support.warm_python import warm_parties

EXAMPLE = "demo --out demo"
"""As its help has it."""
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
    patch.setattr("sottovoce.loop.subject.TRAINING", QUICK)
    patch.setattr(
        "sottovoce.loop.loop.run_loop",
        lambda subjects, plan: run_loop(subjects, replace(plan, effort=effort)),
    )


def count_few_words(patch: pytest.MonkeyPatch, most: int = 200) -> None:
    """Release only the first words of a catalogue: to read them takes the cube of their number."""
    few = partial(public_words, most=most)
    patch.setattr("sottovoce.loop.subject.public_words", few)
    patch.setattr("sottovoce.demo._release.public_words", few)


def learn_no_classifiers(patch: pytest.MonkeyPatch) -> None:
    """Loops whose classifiers no assertion looks at do not learn them."""
    known = {"accuracy": 0.5, "accuracy_true": 0.5}
    patch.setattr(Task, "_accuracies", lambda *_: known)


def _with_little_to_learn_from(asked: SimulationParameters) -> SimulatedCommunity:
    return simulate(replace(asked, background_documents=2500))


@contextmanager
def quick_demo() -> Iterator[None]:
    """Within the block, a demo trains no longer than its figures need."""
    with pytest.MonkeyPatch.context() as patch:
        count_few_words(patch)
        patch.setattr("sottovoce.demo.demo.simulate", _with_little_to_learn_from)
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
    with (common / "demo.lock").open("w") as lock, quick_demo(), warm_parties(), chdir(common):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not report.exists():
            sizes = ["--users", str(SIZES.users), "--weeks", str(SIZES.weeks)]
            app([*EXAMPLE.split(), *sizes], standalone_mode=False)
    return report

"""The communities that measures are judged on: simulated at a level, or a user's own."""

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import (
    DIFFICULTIES,
    SimulationParameters,
    difficulty_named,
)
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import ParameterError
from sottovoce.loop.adversary import Training
from sottovoce.loop.loop import LoopPlan, run_loop
from sottovoce.loop.subject import DEFAULT, simulated_subject
from sottovoce.loop.usefulness import Effort
from sottovoce.report.result import StudyResult
from sottovoce.steps import repetitions
from sottovoce_lab.options import StudyOptions

CONTROL = "control"
LEVELS = (*DIFFICULTIES, CONTROL)


def draw_community(
    level: str, seed: int, *, users: int, weeks: int, background: int
) -> SimulatedCommunity:
    """Simulate at a level of difficulty; at ``control`` personas differ in name only."""
    return simulate(
        SimulationParameters(
            users=users,
            weeks=weeks,
            seed=seed,
            difficulty=difficulty_named(DEFAULT if level == CONTROL else level),
            control=level == CONTROL,
            background_documents=background,
        )
    )


QUICK = LoopPlan(
    methods=(("none", None), ("frequency", 300)),
    precisions=(2,),
    epsilons=("8", "1"),
    effort=Effort(topics=20, iterations=10, most_tokens=20_000),
    whole_documents=("1",),
)
FULL = LoopPlan(whole_documents=("1", "4"))


def run_study_loop(options: StudyOptions) -> StudyResult:
    """Assess, release, assess again: exposure against usefulness over privacy settings.

    The loop on simulated communities, one for each seed.
    """
    if any((options.data, options.posts, options.truth, options.models, options.documents)):
        raise ParameterError(
            "study loop makes its own communities; for yours run sottovoce loop CORPUS."
        )
    users, weeks, background = (150, 6, 800) if options.quick else (600, 12, 4000)
    training = Training(40, 20, 5) if options.quick else Training(60, 80, 20)
    subjects = [
        simulated_subject(
            draw_community(DEFAULT, seed, users=users, weeks=weeks, background=background), training
        )
        for seed in repetitions(options.seeds or (2 if options.quick else 5))
    ]
    return run_loop(subjects, QUICK if options.quick else FULL)

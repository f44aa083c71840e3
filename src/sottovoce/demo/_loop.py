"""The demo's loop: what a release leaves of the exposure that was assessed."""

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.loop.adversary import Training
from sottovoce.loop.loop import LoopPlan, run_loop
from sottovoce.loop.subject import simulated_subject
from sottovoce.loop.usefulness import Effort
from sottovoce.report.page import Section

# Seconds of training, as in the other parts.
TRAINING = Training(topics=60, iterations=40, burn_in=10)
PLAN = LoopPlan(
    shape="user",
    methods=(("none", None), ("frequency", 300)),
    precisions=(4,),
    epsilons=("32", "8", "4", "1", "0.25"),
    effort=Effort(topics=40, iterations=40, most_tokens=100_000),
)
_INTRODUCTION = (
    "An earlier part showed whom an adversary finds in the posts, another what a release of word "
    "counts promises. This one joins them: all that a user has written is released as one row of "
    "counts, and the adversaries look at the release instead of the posts."
)
_MORE = (
    "One community and one draw of the noise, another each time: sottovoce study loop runs five "
    "communities, weekly documents and more compressions; sottovoce loop CORPUS does it with yours."
)


def make_sections(community: SimulatedCommunity, command: str) -> tuple[Section, ...]:
    """The whole part of the report."""
    result = run_loop([simulated_subject(community, TRAINING)], PLAN)
    rows = result.table()
    advice, *notes = result.notes
    section = Section(
        title="Assess, release, assess again",
        paragraphs=(_INTRODUCTION, advice, *notes, _MORE),
        plots=result.plots,
        table=(tuple(rows[0]), *(tuple(row.values()) for row in rows)),
        command=command,
    )
    return (section,)

"""The communities that measures are judged on: simulated at a level, or a user's own."""

from collections.abc import Sequence
from pathlib import Path

from sottovoce.assess.evaluation.judged import judged_topics
from sottovoce.corpus.read.corpus import open_posts, read_truth
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import (
    DIFFICULTIES,
    SimulationParameters,
    difficulty_named,
)
from sottovoce.corpus.simulate.write import simulate
from sottovoce.loop.adversary import Knowledge, fit_knowledge
from sottovoce.loop.subject import DEFAULT, StudyCommunity, name_personas
from sottovoce.topics import Catalogue, load_model

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


def own_community(posts: Path, truth: Path, read: ReadOptions) -> StudyCommunity:
    """A user's own posts and judgements."""
    known = read_truth(truth)
    table = open_posts(posts, options=read).read_all()
    return StudyCommunity(posts.name, table, judged_topics(known), name_personas(known))


def load_knowledge(models: Sequence[Path], topics: Path) -> Knowledge:
    """A user's own models and catalogue."""
    return fit_knowledge([load_model(path) for path in models], Catalogue.load(topics))

"""From what was asked for to scored communities: simulated ones, or a user's own files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sottovoce.assess.evaluation.metrics import judged_topics
from sottovoce.assess.measures.catalogue import MEASURES, PAPER_METHODS
from sottovoce.assess.setting import Setting
from sottovoce.corpus.read.corpus import open_posts, read_truth
from sottovoce.errors import ParameterError
from sottovoce.loop.adversary import Knowledge, Training, fit_knowledge, train_knowledge
from sottovoce.loop.subject import (
    DEFAULT,
    StudyCommunity,
    name_personas,
    simulated_catalogue,
    simulated_community,
)
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce.topics import Catalogue, load_model
from sottovoce_lab.assess.outcomes import (
    CommunityOutcome,
    ScoredCommunity,
    outcome,
    score_community,
)
from sottovoce_lab.communities import CONTROL, LEVELS, draw_community
from sottovoce_lab.options import StudyOptions

SETTING = Setting()


@dataclass(frozen=True)
class AssessStudySizes:
    """How much work a study does."""

    users: int = 1000
    weeks: int = 26
    background: int = 10_000
    seeds: int = 5
    levels: tuple[str, ...] = LEVELS
    training: Training = field(default_factory=Training)


QUICK = AssessStudySizes(
    users=300,
    weeks=12,
    background=2_000,
    seeds=2,
    levels=(DEFAULT, CONTROL),
    training=Training(topics=60, iterations=40, burn_in=10, dimensions=48, epochs=3),
)


def is_own(options: StudyOptions) -> bool:
    """Whether a user's own files are to be judged; refuse half of what that needs."""
    for name in ("data", "documents", "embedding"):
        if getattr(options, name) is not None:
            raise ParameterError(
                f"the assess studies take no --{name}; give --posts, --truth, --topics and --model "
                "to judge your own community."
            )
    given = [options.posts, options.truth, options.topics]
    if any(given) and not all(given):
        raise ParameterError("your own community needs --posts, --truth and --topics together.")
    if options.models and not all(given):
        raise ParameterError("--model goes with --posts, --truth and --topics.")
    if all(given) and options.seeds is not None:
        raise ParameterError("your own community is one; leave --seeds out.")
    return all(given)


@dataclass(frozen=True)
class AssessStudy:
    """A study of measures as it was asked for: on a user's own community, or on simulated ones."""

    options: StudyOptions
    sizes: AssessStudySizes
    own: bool

    @classmethod
    def from_options(cls, options: StudyOptions, full: AssessStudySizes) -> "AssessStudy":
        """A quick look has at most the quick levels."""
        if options.quick:
            levels = tuple(level for level in full.levels if level in QUICK.levels)
            full = replace(QUICK, levels=levels)
        return cls(options, replace(full, seeds=options.seeds or full.seeds), is_own(options))

    def communities(self, measures: Sequence[str] = PAPER_METHODS) -> Iterator[ScoredCommunity]:
        """Every community, scored for ``measures``.

        The background of a seed is the same at every level, so its models are trained once; the
        communities of a seed are drawn from streams of their own.
        """
        if self.own:
            yield _own(self.options, measures)
            return
        for seed in repetitions(self.sizes.seeds):
            knowledge = seed_knowledge(self.sizes, seed, needed_spaces(measures))
            for level in self.sizes.levels:
                size = {"users": self.sizes.users, "weeks": self.sizes.weeks, "background": 1}
                community = simulated_community(draw_community(level, seed, **size), level)
                yield score_community(community, knowledge, measures)

    def outcomes(
        self, measures: Sequence[str] = PAPER_METHODS
    ) -> dict[str, list[CommunityOutcome]]:
        """All communities judged, by level."""
        found: dict[str, list[CommunityOutcome]] = {}
        for scored in self.communities(measures):
            found.setdefault(scored.community.level, []).append(outcome(scored, SETTING))
        return found

    def columns(self, outcomes: Sequence[CommunityOutcome]) -> Row:
        """How large it was, for every row."""
        judged = outcomes[0].community.judged
        return {
            "seeds": 1 if self.own else self.sizes.seeds,
            "users": max(len(topic.users) for topic in judged),
            "sensitive": sum(int(topic.sensitive.sum()) for topic in judged),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, in words."""
        if self.own:
            return ("Your own community; 95% bootstrap intervals over users, by topic.",)
        sizes = self.sizes
        quick = ("A quick look: too little of everything for its figures to mean much.",)
        return (
            *(quick if self.options.quick else ()),
            (
                f"Simulated communities of {sizes.users} users over {sizes.weeks} weeks, "
                f"{sizes.seeds} seeds; {sizes.training.words()}, trained on each seed's "
                f"{sizes.background} background texts. Means with 95% Student-t intervals over "
                "seeds."
            ),
            (
                "People who do not exist: only comparisons on the same communities mean anything. "
                "The paper's figures are for other communities, with 20 to 34% sensitive users."
            ),
        )


def seed_knowledge(sizes: AssessStudySizes, seed: int, spaces: Sequence[str]) -> Knowledge:
    """What an adversary learns from the background of a seed."""
    drawn = draw_community(DEFAULT, seed, users=100, weeks=1, background=sizes.background)
    texts = drawn.background["text"].to_pylist()
    return train_knowledge(texts, simulated_catalogue(drawn), sizes.training, seed + 1, spaces)


def needed_spaces(measures: Sequence[str]) -> list[str]:
    """The spaces that need training for ``measures``."""
    spaces = {MEASURES[name].space for name in measures}
    return [space for space in ("w2v", "lda") if space in spaces]


def _own(options: StudyOptions, measures: Sequence[str]) -> ScoredCommunity:
    if options.posts is None or options.truth is None or options.topics is None:
        raise ParameterError("your own community needs --posts, --truth and --topics together.")
    models = [load_model(path) for path in options.models]
    knowledge = fit_knowledge(models, Catalogue.load(options.topics))
    spaces = {None, "bow", *(space.name for space in knowledge.spaces)}
    possible = [name for name in measures if MEASURES[name].space in spaces]
    if not possible:
        needed = " or ".join(needed_spaces(measures))
        raise ParameterError(f"this study is about {needed} measures: give such a --model.")
    known = read_truth(options.truth)
    table = open_posts(options.posts, options=options.read).read_all()
    personas = name_personas(known)
    community = StudyCommunity(options.posts.name, table, judged_topics(known), personas)
    return score_community(community, knowledge, possible)

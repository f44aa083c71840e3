"""The closed loop: assess, release, assess again; and what the release is still good for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.errors import ParameterError, check_choice
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.loop._adversary import Adversary
from sottovoce.loop._findings import (
    advice,
    by_rate,
    finding,
    frontier,
    level_lines,
    notes,
)
from sottovoce.loop._round import FOUND, KEPT, Circle, luckiest_chance, setting_row
from sottovoce.loop._settings import PrivacySetting, grid
from sottovoce.loop._verdict import LABELS, passage_words, recommended, rule, verdict
from sottovoce.loop._whole import WholeCircle, with_whole_documents
from sottovoce.loop._whole_findings import with_comparison
from sottovoce.loop.subject import Shape, Subject, documents_of, texts_of
from sottovoce.loop.usefulness import Effort, Task
from sottovoce.privacy.exact import positive
from sottovoce.report.result import Row, StudyResult

WIDE = (
    "totals_error",
    "accuracy",
    "passage_seen",
    "passage_strongest",
    "passage_bound",
    "worst_adversary",
)
DEFAULT_LIMIT = 0.1


@dataclass(frozen=True)
class LoopPlan:
    """What is tried.

    Attributes:
        shape: what a document is: all that a user wrote in a ``week``, or as a ``user`` in all.
        methods: compressions with their columns.
        precisions: N.
        epsilons: for each N.
        measures: by which the adversary may rank.
        measure: the one of the unprotected ranking.
        limit: the exposure that is still acceptable.
        effort: how long topic models are trained.
        whole_documents: epsilons at which whole documents are hidden, by a local release and by
            counting together; none: only passages are.
        votes: of those, the most counted words and votes of a document.

    >>> plan = LoopPlan(methods=(("none", None),), precisions=(2,), epsilons=("8", "1"))
    >>> [str(setting.epsilon) for setting in plan.settings]
    ['None', '8', '1']
    """

    shape: Shape = "week"
    methods: tuple[tuple[str, int | None], ...] = (
        ("none", None),
        ("frequency", 300),
        ("random", 300),
    )
    precisions: tuple[int, ...] = (1, 4)
    epsilons: tuple[str, ...] = ("8", "4", "2", "1")
    measures: tuple[str, ...] = ("bow", "bow-dt", "lda", "lda-dt")
    measure: str = "lda-dt"
    limit: float = DEFAULT_LIMIT
    effort: Effort = field(default_factory=Effort)
    whole_documents: tuple[str, ...] = ()
    votes: int = 10

    def __post_init__(self) -> None:
        # Written so that a NaN is refused too.
        if not 0 < self.limit <= 1:
            raise ParameterError(f"limit must be > 0 and <= 1, got {self.limit}.")
        check_choice("measure", self.measure, self.measures)
        for epsilon in self.whole_documents:
            CountRecipe("words", self.votes, positive(epsilon, "epsilon") / 2)

    @property
    def settings(self) -> tuple[PrivacySetting, ...]:
        """One of each noise: settings of one rate are the same release."""
        found = {
            (setting.method, setting.rate): setting
            for setting in grid(self.methods, self.precisions, self.epsilons)
        }
        return tuple(found.values())


def run_loop(subjects: Sequence[Subject], plan: LoopPlan) -> StudyResult:
    """Every community at every setting.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=300)
    >>> training = sv.loop.Training(topics=40, iterations=20, burn_in=5)
    >>> plan = LoopPlan(
    ...     methods=(("none", None),), precisions=(2,), epsilons=("1",),
    ...     effort=sv.loop.Effort(topics=2, iterations=2),
    ... )
    >>> result = run_loop([sv.loop.simulated_subject(community, training)], plan)
    >>> [row["epsilon"] for row in result.rows]
    [None, '1']
    """
    circles = [_circle(subject, plan) for subject in subjects]
    before = [circle.unprotected() for circle in circles]
    outcomes = {
        setting: [
            circle.released(setting, ranking)
            for circle, ranking in zip(circles, before, strict=True)
        ]
        for setting in plan.settings
    }
    found = [circle.levels(ranking) for circle, ranking in zip(circles, before, strict=True)]
    levels = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    if subjects[0].judged:
        judged = [each.judged for each in subjects]
        views = [list(each[0].exposure) for each in outcomes.values()]
        levels["r_precision_luck"] = luckiest_chance(judged, max(map(len, views)))
    facts: Row = {"shape": plan.shape, "limit": plan.limit, **levels}
    rows = tuple(setting_row(setting, found) | facts for setting, found in outcomes.items())
    exposure = FOUND if subjects[0].judged else KEPT
    result = told_result(rows, levels, exposure, plan.limit)
    if not plan.whole_documents:
        return result
    whole = [
        WholeCircle(circle, ranking, texts_of(subject.posts, plan.shape), plan.votes)
        for circle, ranking, subject in zip(circles, before, subjects, strict=True)
    ]
    compared = with_whole_documents(rows, whole, plan.whole_documents, facts)
    return with_comparison(result, compared, exposure)


def _circle(subject: Subject, plan: LoopPlan) -> Circle:
    documents = documents_of(subject.posts, subject.words, plan.shape)
    return Circle(
        subject.posts,
        documents,
        Adversary(subject.knowledge, plan.measures),
        Task(documents, subject.catalogue, plan.effort, subject.seed),
        subject.frequencies,
        subject.judged,
        plan.measure,
        subject.seed,
    )


def told_result(
    rows: tuple[Row, ...], levels: Mapping[str, float], exposure: str, limit: float
) -> StudyResult:
    """What the rows of all settings show, in figures and words."""
    chosen = recommended(rows, exposure, limit)
    judged = verdict(rows, exposure, limit)
    plot = frontier(
        rows,
        exposure,
        level_lines(levels),
        label=LABELS[exposure],
        limit=limit,
        chosen=chosen,
        finding=f"{finding(rows, levels, exposure)} {judged}",
    )
    shown = ("method", "precision", "epsilon", exposure, "jaccard", "accuracy_true")
    wide = tuple(name for name in WIDE if name not in shown)
    told = (
        advice(chosen, exposure, limit),
        f"{judged} {rule(exposure, limit)}",
        passage_words(rows),
        *notes(exposure),
    )
    plots = (plot, by_rate(rows, levels, exposure))
    return StudyResult(rows, plots, shown, told, wide)

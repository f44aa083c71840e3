"""The closed loop: assess, release, assess again; and what the release is still good for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from sottovoce.assess.request import Models, Topics
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions, named_columns
from sottovoce.errors import ParameterError
from sottovoce.files import FilePath
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.loop import _verdict as say
from sottovoce.loop._figures import draw_frontier, draw_rates, draw_ways
from sottovoce.loop._round import FOUND, KEPT, Circle, luckiest_chance, setting_row
from sottovoce.loop._whole import BOUND, DOCUMENT, TOLD, WholeCircle, compare_whole_documents
from sottovoce.loop.adversary import Adversary
from sottovoce.loop.documents import PrivacySetting, Shape, count_documents, grid, join_texts
from sottovoce.loop.subject import Subject, read_subject
from sottovoce.loop.usefulness import Effort, Task
from sottovoce.parsing import check_choice
from sottovoce.privacy.exact import Exact, positive
from sottovoce.report.result import Row, StudyResult, write_study

WIDE = (
    "totals_error",
    "accuracy",
    "passage_seen",
    "passage_strongest",
    "passage_bound",
    "worst_adversary",
)
DEFAULT_LIMIT = 0.1
TITLE = "Exposure against usefulness over privacy settings"
NAME = "loop"
_COMMAND = "sottovoce.loop.compare_settings(...)"
COMPRESSIONS = ("none", "random", "frequency")
EPSILONS = ("16", "8", "4", "2", "1")
_Value = TypeVar("_Value")


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
    >>> from sottovoce.loop.adversary import Training
    >>> community = sv.simulate(users=60, weeks=2, background_documents=300)
    >>> training = Training(topics=40, iterations=20, burn_in=5)
    >>> plan = LoopPlan(
    ...     methods=(("none", None),), precisions=(2,), epsilons=("1",),
    ...     effort=sv.loop.Effort(topics=2, iterations=2),
    ... )
    >>> result = run_loop([sv.loop.simulated_subject(community, training)], plan)
    >>> [row["epsilon"] for row in result.rows]
    [None, '1']
    """
    circles = [_circle(subject, plan) for subject in subjects]
    before = [circle.rank_posts() for circle in circles]
    outcomes = {
        setting: [
            circle.run_setting(setting, ranking)
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
    result = _show_settings(rows, levels, exposure, plan.limit)
    if not plan.whole_documents:
        return result
    whole = [
        WholeCircle(circle, ranking, join_texts(subject.posts, plan.shape), plan.votes)
        for circle, ranking, subject in zip(circles, before, subjects, strict=True)
    ]
    compared = compare_whole_documents(rows, whole, plan.whole_documents, facts)
    return _add_comparison(result, compared, exposure)


def _circle(subject: Subject, plan: LoopPlan) -> Circle:
    documents = count_documents(subject.posts, subject.words, plan.shape)
    adversary = Adversary(subject.knowledge, plan.measures)
    task = Task(documents, subject.catalogue, plan.effort, subject.seed)
    return Circle(subject, documents, adversary, task, plan.measure)


def _show_settings(
    rows: tuple[Row, ...], levels: Mapping[str, float], exposure: str, limit: float
) -> StudyResult:
    """Put what all settings show into figures and words."""
    chosen = say.choose_setting(rows, exposure, limit)
    judged = say.verdict(rows, exposure, limit)
    finding = f"{say.finding(rows, levels, exposure)} {judged}"
    plot = draw_frontier(rows, exposure, levels, limit=limit, chosen=chosen, finding=finding)
    shown = ("method", "precision", "epsilon", exposure, "jaccard", "accuracy_true")
    wide = tuple(name for name in WIDE if name not in shown)
    told = (
        say.advice(chosen, exposure, limit),
        f"{judged} {say.rule(exposure, limit)}",
        say.passage_words(rows),
        *say.notes(exposure),
    )
    plots = (plot, draw_rates(rows, levels, exposure))
    return StudyResult(rows, plots, shown, told, wide)


def _add_comparison(result: StudyResult, rows: tuple[Row, ...], exposure: str) -> StudyResult:
    """Add the rows of whole documents, what they say and their figure."""
    compared = [rows[0], *(row for row in rows if row["unit"] == DOCUMENT)]
    return replace(
        result,
        rows=rows,
        plots=(*result.plots, draw_ways(compared)),
        notes=(*result.notes, *say.whole_notes(compared, exposure)),
        wide=("way", "unit", "votes", TOLD, BOUND, *result.wide),
    )


def compare_settings(
    posts: Source,
    *,
    topics: Topics | None = None,
    model: Models | None = None,
    truth: Source | None = None,
    background: Source | None = None,
    user: str | int = "user",
    time: str | int = "time",
    text: str | int = "text",
    shape: Shape = "week",
    precision: int | Sequence[int] = 2,
    epsilon: Exact | Sequence[Exact] = EPSILONS,
    compress: str | Sequence[str] = "none",
    columns: int = 300,
    whole_documents: Exact | Sequence[Exact] | None = None,
    votes: int = 10,
    limit: float = DEFAULT_LIMIT,
    effort: Effort = Effort(),  # noqa: B008 - frozen
    seed: int = 0,
    out: FilePath | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> StudyResult:
    """Assess a community, release its word counts, and assess what an adversary sees in them.

    What ``sottovoce loop`` does. For every setting: how many of the exposed are still found, by the
    best of several adversaries, who read the release as its friends do, and what it is still good
    for; for whom some setting is both useful and safe; and the setting to take for the stated
    limit. Noise is drawn to look at it only: nothing is published, and no ledger is charged.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> compared = sv.loop.compare_settings(
    ...     community.posts, topics=community.topics, truth=community.truth,
    ...     epsilon=1, effort=sv.loop.Effort(topics=2, iterations=2),
    ... )
    >>> [row["guarantee"] for row in compared.rows]
    ['none', '(N=2, epsilon=1) limited-precision local privacy per document, 0.5 nats per word']

    Args:
        posts: a folder as ``sottovoce simulate`` writes it, a file of posts, a data frame of
            pandas, polars or Arrow, or rows as dictionaries or as tuples (user, time, text).
        topics: the catalogue: a TOML file's path, a `Catalogue`, or topics; a folder has its own.
        model: the adversary's background knowledge: a model or its folder, or several.
        truth: whom topics concern: a file or a data frame; without it, who stays at the top.
        background: public texts, from which the adversary learns topics where there is no model.
        user: the column of the user; likewise ``time`` and ``text``.
        time: the column of the time.
        text: the column of the text.
        shape: a document is what a user wrote in a "week", or as a "user" in all.
        precision: N, or several.
        epsilon: for each N, one or several.
        compress: "none", "random" or "frequency", or several.
        columns: K, the columns that compressions keep.
        whole_documents: one or several epsilons at which whole documents are hidden, by a local
            release and by counting together: two more rows each; None: none.
        votes: of these, the most counted words and votes of a document.
        limit: the exposure that is still acceptable: a share of the people, 0 to 1.
        effort: how long topic models are trained to see what a release is good for.
        seed: of models and maps; never of the noise.
        out: folder for rows.json, the figures and report.html, readable by you only.
        reading: how a file is read: format, header, time zone, encoding.
    """
    precisions, epsilons = _several(precision, "precision"), _several(epsilon, "epsilon")
    methods = _methods(_several(compress, "compress"), columns)
    options = named_columns(reading, user=user, time=time, text=text)
    subject = read_subject(
        posts, topics=topics, truth=truth, background=background, model=model,
        reading=options, seed=seed,
    )  # fmt: skip
    measures = _measures(subject)
    plan = LoopPlan(
        shape=shape,
        methods=methods,
        precisions=precisions,
        epsilons=tuple(map(str, epsilons)),
        measures=measures,
        measure=measures[-1],
        limit=limit,
        effort=effort,
        whole_documents=()
        if whole_documents is None
        else tuple(map(str, _several(whole_documents, "whole_documents"))),
        votes=votes,
    )
    result = run_loop([subject], plan)
    if out is not None:
        write_study(result, Path(out), name=NAME, title=TITLE, command=_COMMAND)
    return result


def _several(given: _Value | Sequence[_Value], name: str) -> tuple[_Value, ...]:
    values = tuple(given) if isinstance(given, list | tuple) else (cast("_Value", given),)
    if not values:
        raise ParameterError(f"{name} must be at least 1 value, got none.")
    return values


def _methods(names: Sequence[str], columns: int) -> tuple[tuple[str, int | None], ...]:
    for name in names:
        check_choice("compress", name, COMPRESSIONS)
    return tuple((name, None if name == "none" else columns) for name in names)


def _measures(subject: Subject) -> tuple[str, ...]:
    """What the adversary may rank by: strength, and the paper's last refinement, in each space."""
    spaces = dict.fromkeys(("bow", *(space.name for space in subject.knowledge.spaces)))
    return tuple(measure for space in spaces for measure in (space, f"{space}-dt"))

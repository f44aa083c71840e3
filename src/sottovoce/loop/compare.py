"""Privacy settings compared: what ``sottovoce loop`` does, as one call."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

from sottovoce.assess.assess import Models, Topics
from sottovoce.corpus.read import ReadOptions
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import named_columns
from sottovoce.errors import ParameterError, check_choice
from sottovoce.files import FilePath
from sottovoce.loop.loop import DEFAULT_LIMIT, LoopPlan, run_loop
from sottovoce.loop.subject import Shape, Subject, SubjectSources, subject_of
from sottovoce.loop.usefulness import Effort
from sottovoce.privacy.exact import Exact
from sottovoce.report.result import StudyResult, write_study

TITLE = "Exposure against usefulness over privacy settings"
NAME = "loop"
_COMMAND = "sottovoce.loop.compare_settings(...)"
COMPRESSIONS = ("none", "random", "frequency")
EPSILONS = ("16", "8", "4", "2", "1")
_Value = TypeVar("_Value")


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
        columns: K, of the compressions.
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
    sources = SubjectSources.found(
        posts, topics=topics, truth=truth, background=background, model=model
    )
    methods = _methods(_several(compress, "compress"), columns)
    options = named_columns(reading, user=user, time=time, text=text)
    subject = subject_of(sources, options, seed)
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
        whole_documents=() if whole_documents is None else _epsilons(whole_documents),
        votes=votes,
    )
    result = run_loop([subject], plan)
    if out is not None:
        write_study(
            result,
            Path(out),
            name=NAME,
            title=TITLE,
            command=_COMMAND,
        )
    return result


def _several(given: _Value | Sequence[_Value], name: str) -> tuple[_Value, ...]:
    values = tuple(given) if isinstance(given, list | tuple) else (cast("_Value", given),)
    if not values:
        raise ParameterError(f"{name} must be at least 1 value, got none.")
    return values


def _epsilons(given: Exact | Sequence[Exact]) -> tuple[str, ...]:
    return tuple(map(str, _several(given, "whole_documents")))


def _methods(names: Sequence[str], columns: int) -> tuple[tuple[str, int | None], ...]:
    for name in names:
        check_choice("compress", name, COMPRESSIONS)
    return tuple((name, None if name == "none" else columns) for name in names)


def _measures(subject: Subject) -> tuple[str, ...]:
    """What the adversary may rank by: strength, and the paper's last refinement, in each space."""
    spaces = dict.fromkeys(("bow", *(space.name for space in subject.knowledge.spaces)))
    return tuple(measure for space in spaces for measure in (space, f"{space}-dt"))

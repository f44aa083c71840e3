"""Posts in, a ranking out: what ``sottovoce assess`` does, as one call."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias

from sottovoce._files import FilePath, check_folder, refuse_overlap
from sottovoce.assess._alerts import Alerts, alerts_file, check_alerts
from sottovoce.assess._checkpoints import EVERY_S, CheckpointOptions, alone_with
from sottovoce.assess._explain.explain import Question, explain
from sottovoce.assess._explain.explanation import Explanation, UserPosts
from sottovoce.assess._job import Assessment, Request
from sottovoce.assess._ranking import Ranking, ranking_of
from sottovoce.assess._setting import Bucket, Setting
from sottovoce.assess.state._parts import earlier_folder
from sottovoce.corpus._schema import POSTS
from sottovoce.corpus.read._corpus import Corpus, Source, open_posts
from sottovoce.corpus.read._guessed import guessed_source
from sottovoce.corpus.read._tally import ReadOptions, named_columns
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics._catalogue import Catalogue, Topic
from sottovoce.topics._load import load_model
from sottovoce.topics._space import Mode, Space

_NEVER = "there is nothing to rank: give posts, or a state that holds some."


class TopicLike(Protocol):
    """A topic as a catalogue or a simulated community has it."""

    @property
    def name(self) -> str: ...
    @property
    def words(self) -> tuple[str, ...]: ...
    @property
    def domain(self) -> str: ...
    @property
    def sensitive(self) -> bool: ...


Topics: TypeAlias = Catalogue | FilePath | Iterable[TopicLike]
"""A catalogue, its file, or topics."""
Models: TypeAlias = Space | FilePath | Sequence[Space | FilePath]
"""A model or its folder, or several."""


@dataclass(frozen=True)
class _RankedPosts:
    """The posts and the state of a ranking, for what is asked of it next."""

    assessment: Assessment
    posts: Corpus | None
    state_file: Path | None
    topics: tuple[str, ...] | None

    def explain(
        self, user: str, topic: str, measure: str, *, without: Sequence[int], most: int
    ) -> Explanation:
        if self.posts is None:
            raise ParameterError(
                "a ranking of a state alone does not know the posts; give assess_posts those it "
                "was made from."
            )
        held, own_posts = self.assessment.state, UserPosts(user)
        held.column(topic)
        for _ in own_posts.passing(self.posts):
            pass
        asked = Question(user, topic, self.assessment.measures[measure], self.assessment.setting)
        scoring = self.assessment.scoring
        return explain(held, scoring, own_posts, asked, without=tuple(without), most=most)

    def alerts(self, *, bands: Sequence[int], hysteresis: float, out: FilePath | None) -> Alerts:
        if self.state_file is None:
            raise ParameterError(
                "alerts need a state, which keeps who was in which band; give assess_posts a state."
            )
        return check_alerts(
            self.state_file,
            measures=tuple(self.assessment.measures),
            topics=self.topics,
            k=self.assessment.setting.k,
            m=self.assessment.setting.m,
            bands=bands,
            hysteresis=hysteresis,
            out=_path(out),
        )


def assess_posts(
    posts: Source | None,
    *,
    topics: Topics | None = None,
    model: Models | None = None,
    user: str | int = "user",
    time: str | int = "time",
    text: str | int = "text",
    measures: str | Sequence[str] = "all",
    topic: str | Sequence[str] | None = None,
    k: float = 0.3,
    m: int = 3,
    bucket: str | None = None,
    mode: Mode | None = None,
    state: FilePath | None = None,
    merge: Sequence[FilePath] = (),
    keep_buckets: int | None = None,
    keep_posts: bool | None = None,
    clean: bool | None = None,
    checkpoint: FilePath | None = None,
    checkpoint_every: float = EVERY_S,
    resume: bool = False,
    out: FilePath | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> Ranking:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    What ``sottovoce assess`` does. The bag of words is always there; other measures need a model.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> posts = community.posts.rename_columns(["author", "created_at", "body"])
    >>> ranking = sv.assess_posts(
    ...     posts, user="author", time="created_at", text="body",
    ...     topics=community.topics, measures="bow-t",
    ... )
    >>> ranking
    Ranking(users=60, measures=1, topics=5)
    >>> why = ranking.explain("u07", "pregnancy")
    >>> why.position.users
    60

    Args:
        posts: a file's path, a data frame of pandas, polars or Arrow, or rows as dictionaries or
            as tuples (user, time, text); None ranks what is in the ``state``.
        topics: the catalogue: a TOML file's path, a `Catalogue`, or topics; None takes the shipped
            one (``sottovoce.topics.shipped_catalogue``). A state has its own.
        model: the adversary's background knowledge: a model or its folder, or several.
        user: the column of the user; likewise ``time`` and ``text``. Without a column of that name
            it is guessed, with a warning that says which and why, or a question.
        time: the column of the time.
        text: the column of the text.
        measures: names such as "voice-t,ent", or a list; "recommended"; "paper" or "all": the
            paper's that the models allow.
        topic: the topic or topics to rank by; None: the sensitive ones.
        k: the share of a domain that a broad interest covers.
        m: the number of time buckets that a lasting interest covers.
        bucket: days, weeks or months: "1d", "1w" (the default), "1mo".
        mode: "corrected" (the default), or "paper"; a state has its own.
        state: file that keeps what is needed to add posts later; what it holds is ranked too.
        merge: files with the state of other parts of the posts, to fold in.
        keep_buckets: the largest m that a new state allows.
        keep_posts: keep each post's scores in a new state, so that single posts can be deleted.
        clean: score posts without quotes, HTML, URLs and signatures, and leave out authors such as
            [deleted] and bots; None: yes, but not in the paper's mode. A state has its own.
        checkpoint: folder for what is done so far, from which ``resume`` goes on.
        checkpoint_every: seconds between two checkpoints.
        resume: go on from the checkpoint.
        out: file for the ranks, readable by you only: .csv, .jsonl, or else Parquet.
        reading: how a file is read: format, header, time zone, encoding.
    """
    options = named_columns(reading, user=user, time=time, text=text)
    state_file, folder, ranks_file = _path(state), _path(checkpoint), _path(out)
    parts = [Path(part) for part in merge]
    _refuse_overlap(ranks_file, state_file, (posts, topics, *parts, *_several(model)))
    request = Request(
        measures=_names(measures) or ("all",),
        setting=Setting(k, m, mode or "corrected"),
        mode=mode,
        catalogue=None if topics is None else catalogue_of(topics),
        spaces=models_of(model),
        topics=_names(topic),
        bucket=None if bucket is None else Bucket.parse(bucket),
        kept=keep_buckets,
        posts=keep_posts,
        clean=clean,
    )
    checkpoints = _checkpoints(folder, checkpoint_every, resume=resume)
    with alone_with(state_file, folder):
        assessment = Assessment(request, state_file, checkpoints=checkpoints)
        options = options if posts is None else _guessed(posts, options)
        corpus = None if posts is None else open_posts(posts, options=options)
        if corpus is not None:
            _fold(assessment, posts, corpus, options)
        for part in parts:
            assessment.merge(part)
        if not assessment.users:
            raise ParameterError(_NEVER)
        ranks = list(assessment.ranks())
        assessment.save(ranks_file, ranks)
    source = _RankedPosts(assessment, corpus, state_file, request.topics)
    return ranking_of(ranks, source)


def _guessed(posts: Source, options: ReadOptions) -> ReadOptions:
    """With the columns that are neither told nor called as ours; what was guessed is warned of."""
    found = guessed_source(posts, POSTS, options)
    for line in found.said:
        warnings.warn(line, stacklevel=3)
    return found.options


def _fold(assessment: Assessment, posts: object, corpus: Corpus, options: ReadOptions) -> None:
    file = Path(posts) if isinstance(posts, str | PathLike) else None
    if not assessment.fold(file, corpus, options):
        warnings.warn("these posts are in the state already: nothing was added", stacklevel=3)
    elif left_out := corpus.tally.left_out:
        rows = corpus.tally.rows_read
        warnings.warn(f"posts were skipped, of {rows} rows: {left_out}", stacklevel=3)


def _refuse_overlap(out: Path | None, state: Path | None, given: Iterable[object]) -> None:
    beside = () if state is None else (alerts_file(state), earlier_folder(state))
    inputs = [Path(each) for each in given if isinstance(each, str | PathLike)]
    refuse_overlap((out, state), (*inputs, *beside))


def _checkpoints(folder: Path | None, every_s: float, *, resume: bool) -> CheckpointOptions | None:
    if folder is None:
        if resume:
            raise ParameterError("resume needs a checkpoint, the folder to go on from.")
        return None
    check_folder(folder)
    return CheckpointOptions(folder, resume, every_s)


def catalogue_of(topics: Topics) -> Catalogue:
    """The catalogue that is given in one of several ways."""
    if isinstance(topics, Catalogue):
        return topics
    if isinstance(topics, str | PathLike):
        return Catalogue.load(Path(topics))
    if isinstance(topics, Mapping) or not isinstance(topics, Iterable):
        raise _no_topics(topics)
    return Catalogue(tuple(map(_topic, topics)))


def _no_topics(given: object) -> InputError:
    return InputError(
        "topics must be a Catalogue, the path of its TOML file, or topics, each a "
        "Topic(name, words, domain, sensitive=True); "
        f"got one of type {type(given).__name__}."
    )


def _topic(topic: TopicLike) -> Topic:
    if isinstance(topic, Topic):
        return topic
    if not all(hasattr(topic, name) for name in ("name", "words", "domain", "sensitive")):
        raise _no_topics(topic)
    return Topic(topic.name, topic.words, topic.domain, topic.sensitive)


def models_of(model: Models | None) -> tuple[Space, ...]:
    """The models that are given, or whose folders are."""
    return tuple(map(_space, _several(model)))


def _several(model: Models | None) -> Sequence[Space | FilePath]:
    if model is None:
        return ()
    return model if isinstance(model, list | tuple) else (model,)


def _space(model: "Space | FilePath") -> Space:
    return load_model(Path(model)) if isinstance(model, str | PathLike) else model


def _names(written: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if written is None:
        return None
    names = written.split(",") if isinstance(written, str) else written
    return tuple(name.strip() for name in names)


def _path(given: FilePath | None) -> Path | None:
    return None if given is None else Path(given)

"""Posts in, a ranking out: what `assess_posts` and ``sottovoce assess`` do.

Posts are opened and folded into a state, which may be kept; users are ranked; ranks and state are
written, all or nothing.
"""

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Unpack, cast

import pyarrow as pa

from sottovoce.assess.alerts import Alerts, check_alerts
from sottovoce.assess.explain import Question, explain
from sottovoce.assess.explanation import Explanation, UserPosts
from sottovoce.assess.job import Assessment
from sottovoce.assess.posts import PostsListener, find_background, fold_posts, open_given_posts
from sottovoce.assess.ranking import RankedTopicUsers, Ranking, ranking_of
from sottovoce.assess.request import AssessOptions, AssessRequest, choose_measure, model_folder
from sottovoce.corpus.read.corpus import Corpus, Source, Sources, open_posts
from sottovoce.corpus.read.guessed import keep_reading
from sottovoce.errors import ParameterError
from sottovoce.files import FilePath, only_one, output_folder
from sottovoce.topics.catalogue import Catalogue


@dataclass(frozen=True)
class Assessed:
    """What an assessment came to, for whatever is asked of it next."""

    request: AssessRequest
    assessment: Assessment
    posts: Corpus | None
    read: dict[str, object]
    """What became of the posts' rows."""
    summary: list[dict[str, object]]
    """How many users are in each band; empty where nobody was ranked."""
    ranks: Sequence[RankedTopicUsers] = ()

    def explain(
        self,
        user: str,
        topic: str,
        measure: str | None,
        *,
        posts: Sources | None,
        without: Sequence[int],
        most: int,
    ) -> Explanation:
        """Why ``user`` stands where they stand."""
        if self.posts is None and posts is None:
            raise ParameterError(
                "a ranking of a state alone does not know the posts; give the posts that it was "
                "made from: posts=."
            )
        held, own_posts = self.assessment.state, UserPosts(user)
        ranked, scoring = self.assessment.measures, self.assessment.scoring
        held.column(topic)
        named = choose_measure(measure, self.request.state_file, tuple(ranked))
        if named not in ranked:
            raise ParameterError(f"measure must be one of {', '.join(ranked)}, got {measure!r}.")
        for opened in [self.posts] if posts is None else map(self._open, _each(posts)):
            for _ in own_posts.note_batches(opened or ()):
                pass
        asked = Question(user, topic, ranked[named], self.assessment.setting)
        return explain(held, scoring, own_posts, asked, without=tuple(without), most=most)

    def _open(self, posts: Source) -> Corpus:
        reading = PostsListener().read(posts, self.request.columns, self.request.state_file)
        return open_posts(posts, options=reading)

    def alerts(self, *, bands: Sequence[int], hysteresis: float, out: FilePath | None) -> Alerts:
        """Who entered or left a band since the last check."""
        if self.request.state_file is None:
            raise ParameterError(
                "alerts need a state, which keeps who was in which band; give assess_posts a state."
            )
        return check_alerts(
            self.request.state_file,
            measures=tuple(self.assessment.measures),
            topics=self.request.topic_names,
            k=self.assessment.setting.k,
            m=self.assessment.setting.m,
            bands=bands,
            hysteresis=hysteresis,
            out=None if out is None else Path(out),
        )


def carry_out(
    request: AssessRequest,
    listener: PostsListener,
    *,
    keep_ranks: bool = False,
    shown: bool = False,
) -> Assessed:
    """Assess as asked; with ``keep_ranks`` all ranks are kept, with ``shown`` users are ranked.

    Else a run that only adds to a state ranks nobody.
    """
    state_file, out = request.state_file, request.ranks_file
    request.load()
    with _lock_files(request):
        given = open_given_posts(request, listener)
        with listener.show_step("Learning a background from the posts"):
            request, learnt = find_background(request, given and given[0], listener)
        assessment = Assessment(request)
        if given is None and not request.merge and not assessment.users:
            raise ParameterError(
                "there is nothing to rank: give posts, or a state that holds some."
            )
        with listener.show_step("Scoring posts"):
            read = {} if given is None else fold_posts(assessment, request, *given, listener)
            for part in request.merge:
                assessment.merge(Path(part))
        with listener.show_step("Ranking users"):
            if learnt is not None and state_file is not None:
                learnt.save(model_folder(state_file))
            ranks = list(assessment.ranks()) if keep_ranks else None
            saved = assessment.save(ranks, shown=shown) if state_file or out or keep_ranks else []
            unsaved = out is None and (shown or state_file is None)
            summary = saved if keep_ranks or not unsaved else _count_bands(assessment)
        if given is None and not request.merge and out is None:
            assessment.pack()
        listener.finish(assessment, read)
        if given is not None and (beside := state_file or out):
            listener.say_kept(keep_reading(beside, given[1], request.columns))
    return Assessed(request, assessment, given and given[0], read, summary, ranks or ())


@dataclass(frozen=True)
class ExplainedRank:
    """Why a user of a community stands where they stand, and their posts."""

    found: Explanation
    measure: str
    topic: str
    sharing: int
    """How many users have their score."""
    texts: dict[int, str]
    """The texts of their posts by number."""
    own_words: dict[int, str]
    """The same as they are scored: cleaned, where posts are."""
    catalogue: Catalogue


def explain_rank(
    request: AssessRequest,
    posts: Sequence[Source],
    user: str,
    listener: PostsListener,
    *,
    without: Sequence[int] = (),
    most: int = 10,
) -> ExplainedRank:
    """Why ``user`` stands where they stand by one measure for one topic: ``sottovoce explain``."""
    request.load()
    readings = [listener.read(each, request.columns, request.state_file) for each in posts]
    opened = [open_posts(file, options=how) for file, how in zip(posts, readings, strict=True)]
    with listener.show_step("Learning a background from the posts"):
        request, _ = find_background(request, _PostsTogether(opened), listener)
    [measure] = request.measure_names
    assessment, own_posts = Assessment(request, to_save=False), UserPosts(user)
    if measure not in assessment.measures:
        raise ParameterError("explain takes one measure at a time, got all.")
    catalogue = assessment.state.header.catalogue
    topic, *others = catalogue.find_names(request.topic_names or ())
    if others:
        names = ", ".join([topic, *others])
        raise ParameterError(f"explain takes one topic at a time; choose of {names}.")
    with listener.show_step("Scoring posts"):
        for file, each in zip(posts, opened, strict=True):
            batches = own_posts.note_batches(each)
            if not assessment.fold(Path(str(file)), batches):
                deque(batches, maxlen=0)
            listener.tell_skipped(each)
    state, scoring, setting = assessment.state, assessment.scoring, assessment.setting
    question = Question(user, topic, assessment.measures[measure], setting)
    found = explain(state, scoring, own_posts, question, without=tuple(without), most=most)
    scores = question.measure.score(state, topic, setting)
    sharing = int((scores == found.position.score).sum())
    texts = scoring.own_words(own_posts.table["text"].combine_chunks()).to_pylist()
    own_words = dict(zip(own_posts.numbers.tolist(), texts, strict=True))
    return ExplainedRank(found, measure, topic, sharing, own_posts.texts(), own_words, catalogue)


class _PostsTogether:
    """The posts of several sources, one after another, each pass from the start."""

    def __init__(self, opened: Sequence[Corpus]) -> None:
        self._opened = opened

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return chain.from_iterable(self._opened)


@contextmanager
def _lock_files(request: AssessRequest) -> Iterator[None]:
    """Let no other command update the state, nor keep where it is in the same folder."""
    with ExitStack() as held:
        if (folder := request.checkpoint_folder) is not None:
            output_folder(folder.absolute().parent)
            held.enter_context(only_one(folder))
        if request.state_file is not None:
            held.enter_context(only_one(request.state_file))
        yield


def _count_bands(assessment: Assessment) -> list[dict[str, object]]:
    return [ranked.summary for ranked in assessment.ranks()]


def assess_posts(posts: Source | None, **options: Unpack[AssessOptions]) -> Ranking:
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
            paper's that the models allow. None: as the state was last ranked, else "bow-t", and
            "all" with a ``model``, ``topics`` or ``merge``.
        topic: the topic or topics to rank by; None: as the state was last ranked, else the
            sensitive ones.
        k: the share of a domain that a broad interest covers.
        m: the number of time buckets that a lasting interest covers.
        bucket: days, weeks or months: "1d", "1w" (the default), "1mo".
        mode: "corrected" (the default), or "paper"; a state has its own.
        state: file that keeps what is needed to add posts later; what it holds is ranked too.
        only_newer: add only posts later than the newest that the state has counted.
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
    request = AssessRequest(posts=posts, **options)
    found = carry_out(request, PostsListener(), keep_ranks=True)
    return ranking_of(found.ranks, found)


def _sign() -> inspect.Signature:
    """What `help` shows: the request's keywords, with their defaults."""
    posts, *options = inspect.signature(AssessRequest).parameters.values()
    first = posts.replace(
        kind=inspect.Parameter.POSITIONAL_OR_KEYWORD, default=inspect.Parameter.empty
    )
    return inspect.Signature([first, *options])


assess_posts.__signature__ = _sign()  # type: ignore[attr-defined] # functions take it


def _each(posts: Sources) -> Sequence[Source]:
    """One source of posts, or several; rows are one."""
    several = isinstance(posts, list | tuple) and not isinstance(posts[0], dict | list | tuple)
    return cast("Sequence[Source]", posts if several else [posts])

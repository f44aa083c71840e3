"""Posts in, a ranking out: what `assess_posts` and ``sottovoce assess`` do.

Posts are opened and folded into a state, which may be kept; users are ranked; ranks and state are
written, all or nothing.
"""

import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sottovoce.assess.explain import MOST, Assessed, ask, explain
from sottovoce.assess.explanation import Explanation, UserPosts
from sottovoce.assess.job import Assessment
from sottovoce.assess.measures.catalogue import MEASURES, plan_scoring
from sottovoce.assess.ranking import Ranking, rank, ranking_of
from sottovoce.assess.request import AssessRequest, model_folder
from sottovoce.assess.setting import M_KEPT, Bucket, Setting
from sottovoce.corpus.read.corpus import Corpus, Source, open_posts, sample_source
from sottovoce.corpus.read.guessed import keep_reading, warned_reading
from sottovoce.corpus.read.tally import ReadOptions, Tallied
from sottovoce.corpus.schema import POSTS
from sottovoce.corpus.vocabulary import NOT_ENGLISH, seems_english
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import only_one, output_folder
from sottovoce.keywords import take_keywords
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Mode, Space

if TYPE_CHECKING:
    from sottovoce.topics.voice.train import LearntVoice


class PostsListener:
    """Whoever is told what happens on the way; a call from Python, by warnings."""

    def read(self, posts: Source, told: ReadOptions, beside: Path | None) -> ReadOptions:
        """How to read posts: as told, as kept ``beside``, or as guessed, which is said."""
        return warned_reading(posts, POSTS, told, beside=beside, stacklevel=7)

    def warn(self, sentence: str) -> None:
        """Say what must not be overlooked."""
        warnings.warn(sentence, stacklevel=6)

    def tell(self, sentence: str) -> None:
        """Say what may be known: on a terminal."""

    def tell_skipped(self, posts: Tallied) -> None:
        """Say which rows were skipped."""
        if left_out := posts.tally.left_out:
            rows = posts.tally.rows_read
            warnings.warn(f"posts were skipped, of {rows} rows: {left_out}", stacklevel=6)

    def show_step(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - for terminals
        """Show that a step is under way."""
        return nullcontext()

    def say_kept(self, path: Path | None) -> None:
        """Say where it is kept how posts were read: on a terminal."""

    def watch(
        self,
        assessment: Assessment,  # noqa: ARG002 - for reports
        posts: Iterable[pa.RecordBatch],
    ) -> Iterable[pa.RecordBatch]:
        """The same posts, seen on their way to the state."""
        return posts

    def finish(self, assessment: Assessment, read: dict[str, object]) -> None:
        """See the state before anybody else may update it."""


def open_given_posts(
    request: AssessRequest, listener: PostsListener
) -> tuple[Corpus, ReadOptions] | None:
    """The posts of a request and how they are read; a strange language is warned of."""
    if request.posts is None:
        return None
    beside = request.state_file or request.ranks_file
    reading = listener.read(request.posts, request.columns, beside)
    if request.topics is None and not request.has_state:
        wanted = str(reading.columns.get("text", "text")).casefold()
        texts = [
            value
            for column in sample_source(request.posts, reading)
            if wanted in {column.name.strip().casefold(), str(column.key)}
            for value in column.values
        ]
        if not seems_english(texts):
            listener.warn(f"WARNING: {NOT_ENGLISH}")
    return open_posts(request.posts, options=reading), reading


def fold_posts(
    assessment: Assessment,
    request: AssessRequest,
    opened: Corpus,
    reading: ReadOptions,
    listener: PostsListener,
) -> dict[str, object]:
    """Fold posts into the state, unless these very ones are in it already.

    What became of their rows is said, and given back as a record for machines.
    """
    held, times = assessment.posts, assessment.times
    if request.only_newer and held and times.before is None:
        raise InputError(
            "the state does not say when its newest post was written; leave out --only-newer, and "
            "give a file with only new posts."
        )
    wanted = times.drop_older(opened) if request.only_newer else opened
    if not assessment.fold(request.posts_file, listener.watch(assessment, wanted), reading):
        listener.warn("these posts are in the state already: nothing was added")
        return {"rows": 0, "skipped": {}, "not_newer": 0, "cleaned": None}
    listener.tell_skipped(opened)
    if request.only_newer and times.not_newer:
        listener.tell(f"left out {times.not_newer:,} posts that are not newer")
    elif warning := times.warning(held):
        listener.warn(warning)
    cleaned = assessment.scoring.cleaned
    if cleaned is not None and (sentence := cleaned.in_words()):
        listener.tell(sentence)
    if cleaned is not None and cleaned.nobodys and not assessment.users:
        raise InputError(
            "no post is left: every author is deleted, anonymous or a bot. Is another column "
            "the user? --no-clean (in Python clean=False) keeps such authors."
        )
    return {
        "rows": opened.tally.rows_read,
        "skipped": {str(reason): rows for reason, rows in opened.tally.skipped.items()},
        "not_newer": times.not_newer,
        "cleaned": None if cleaned is None else cleaned.facts(),
    }


def find_background(
    request: AssessRequest, posts: Iterable[pa.RecordBatch] | None, listener: PostsListener
) -> "tuple[AssessRequest, LearntVoice | None]":
    """The request with the background that its measures need: given, kept, or learnt now."""
    request.check_names()
    if any(each.name == "voice" for each in request.spaces):
        return request, None
    if (kept := request.kept_state) is not None:
        folder = model_folder(kept.path)
        if not folder.exists() or "voice" not in kept.header.spaces:
            return request, None
        from sottovoce.topics.load import load_model  # noqa: PLC0415 - only where one is kept

        return request.add_space(load_model(folder)), None
    wanted = {MEASURES[name].space for name in request.measure_names if name in MEASURES}
    if posts is None or "voice" not in wanted:
        return request, None
    from sottovoce.topics.voice.train import learn_voice  # noqa: PLC0415 - needs the compiler

    names = request.catalogue.names
    model = learn_voice(posts, request.catalogue, clean=request.cleans_posts())
    listener.warn(_describe_background(names, [n for n in names if n not in set(model.learnt)]))
    return request.add_space(model), model


def _describe_background(topics: Sequence[str], unheard: Sequence[str]) -> str:
    heard = f"{len(topics) - len(unheard)} of " if unheard else ""
    learnt = f"background learnt from these posts for {heard}{len(topics)} topics"
    return learnt + (f"; nobody writes about {', '.join(unheard)}" if unheard else "")


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
    most: int = MOST,
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
    question = ask(assessment, own_posts, topic, measure)
    found = explain(question, without=without, most=most)
    sharing = int((question.scores == found.position.score).sum())
    cleaned = assessment.scoring.own_words(own_posts.table["text"].combine_chunks())
    own_words = dict(zip(own_posts.numbers.tolist(), cleaned.to_pylist(), strict=True))
    return ExplainedRank(found, measure, topic, sharing, own_posts.texts(), own_words, catalogue)


class _PostsTogether:
    """The posts of several sources, one after another, each pass from the start."""

    def __init__(self, opened: Sequence[Corpus]) -> None:
        self._opened = opened

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return chain.from_iterable(self._opened)


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
            raise ParameterError("there is nothing to rank: give posts, or a state with posts.")
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
            summary = (
                saved
                if keep_ranks or not unsaved
                else [each.summary for each in assessment.ranks()]
            )
        if given is None and not request.merge and out is None:
            assessment.pack()
        listener.finish(assessment, read)
        if given is not None and (beside := state_file or out):
            listener.say_kept(keep_reading(beside, given[1], request.columns))
    return Assessed(request, assessment, given and given[0], read, summary, ranks or ())


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


@take_keywords(AssessRequest)
def assess_posts(request: AssessRequest) -> Ranking:  # noqa: D417 - its keywords are meant
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
    found = carry_out(request, PostsListener(), keep_ranks=True)
    return ranking_of(found.ranks, found)


def score(
    posts: Any,  # noqa: ANN401 - a path or a data frame of any library, as open_posts takes it
    space: Space | Sequence[Space],
    catalogue: Catalogue,
    *,
    measures: Sequence[str] = ("all",),
    topics: Sequence[str] | None = None,
    k: float = 0.3,
    m: int = 3,
    bucket: str = "1w",
    mode: Mode = "corrected",
    threads: int | None = None,
) -> Ranking:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    ``posts`` are a path or a data frame with user, time and text; ``space`` is the adversary's
    background knowledge, one model or several (the bag of words is always there); ``topics``
    names those to rank by, the sensitive ones by default. `assess_posts` takes paths and column
    names too, and its ranking explains.

    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> rows = [("ada", "2024-01-01", "a loan"), ("ben", "2024-01-02", "the sea")]
    >>> score(rows, BagOfWords(), Catalogue((Topic("debt", ("loan",), "money", True),))).users
    2
    """
    setting = Setting(k, m, mode)
    spaces = space if isinstance(space, Sequence) else (space,)
    chosen, scoring = plan_scoring(
        catalogue, spaces, measures, bucket=Bucket.parse(bucket), kept=max(m, M_KEPT), mode=mode
    )
    state = scoring.state_of(open_posts(posts), threads=threads)
    return rank(state, chosen, topics=topics, setting=setting, threads=threads)

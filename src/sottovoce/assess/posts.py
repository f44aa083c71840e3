"""Posts on their way into a state: how they are read, which are newer, what they teach.

Where a measure needs an adversary's background and nobody gives one, the posts at hand teach it. It
is kept beside the state, in STATE.model, so that later posts are scored alike; a state names the
fingerprint of its model, which is compared each time.
"""

import warnings
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sottovoce.assess.job import Assessment
from sottovoce.assess.measures.catalogue import MEASURES
from sottovoce.assess.request import AssessRequest, model_folder
from sottovoce.corpus.read.corpus import Corpus, Source, open_posts, sample_source
from sottovoce.corpus.read.guessed import warned_reading
from sottovoce.corpus.read.tally import ReadOptions, Tallied
from sottovoce.corpus.schema import POSTS
from sottovoce.corpus.vocabulary import NOT_ENGLISH, seems_english
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from sottovoce.topics.voice.train import LearntVoice


class PostsListener:
    """Whoever is told what happens on the way; a call from Python, by warnings."""

    def read(self, posts: Source, told: ReadOptions, beside: Path | None) -> ReadOptions:
        """How to read posts: as told, as kept ``beside``, or as guessed, which is said."""
        return warned_reading(posts, POSTS, told, beside=beside, stacklevel=6)

    def warn(self, sentence: str) -> None:
        """Say what must not be overlooked."""
        warnings.warn(sentence, stacklevel=5)

    def tell(self, sentence: str) -> None:
        """Say what may be known: on a terminal."""

    def tell_skipped(self, posts: Tallied) -> None:
        """Say which rows were skipped."""
        if left_out := posts.tally.left_out:
            rows = posts.tally.rows_read
            warnings.warn(f"posts were skipped, of {rows} rows: {left_out}", stacklevel=5)

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
            "the state does not say when its newest post was written; leave --only-newer out, and "
            "give a file of new posts only."
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
            "no post is left: every author stands for nobody. Is another column the user? "
            "--no-clean (in Python clean=False) keeps such authors."
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
    return learnt + (f"; nobody speaks of {', '.join(unheard)}" if unheard else "")

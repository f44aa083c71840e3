"""Posts as they are given, read and folded into a state: for the command and for Python alike."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from sottovoce.assess.alerts import alerts_file
from sottovoce.assess.background import model_folder
from sottovoce.assess.community_facts import CommunityWatch
from sottovoce.assess.job import Assessment, Request
from sottovoce.assess.state.parts import earlier_folder
from sottovoce.corpus.read.corpus import Corpus
from sottovoce.corpus.read.formats import sample_source
from sottovoce.corpus.read.guessed import kept_reading
from sottovoce.corpus.read.tally import ReadOptions, Tallied
from sottovoce.corpus.vocabulary import NOT_ENGLISH, seems_english
from sottovoce.errors import InputError

Say = Callable[[str], None]


@dataclass(frozen=True)
class Notices:
    """How somebody hears what they should not overlook, what they may know, and of rows."""

    warn: Say
    tell: Say
    rows: Callable[[Tallied], None]


def files_beside(state: Path | None, out: Path | None) -> list[Path]:
    """What is kept beside a state and ranks, and must not be lost."""
    kept = [kept_reading(each) for each in (state, out) if each is not None]
    if state is not None:
        kept += [alerts_file(state), earlier_folder(state), model_folder(state)]
    return kept


def language_warning(
    request: Request, state: Path | None, posts: object, reading: ReadOptions
) -> str:
    """What to say where posts are not in the language of the shipped topics; else empty."""
    if request.catalogue is not None or (state is not None and state.exists()):
        return ""
    wanted = str(reading.columns.get("text", "text")).casefold()
    texts = [
        value
        for column in sample_source(posts, reading)
        if wanted in {column.name.strip().casefold(), str(column.key)}
        for value in column.values
    ]
    return "" if seems_english(texts) else f"WARNING: {NOT_ENGLISH}"


def fold_posts(
    assessment: Assessment,
    posts: object,
    opened: Corpus,
    reading: ReadOptions,
    notices: Notices,
    *,
    watch: CommunityWatch | None = None,
    only_newer: bool = False,
) -> dict[str, object]:
    """Fold posts into the state, unless these very ones are in it already.

    What became of their rows is said, and given back as a record for machines.
    """
    file = Path(posts) if isinstance(posts, str | PathLike) else None
    held, times = assessment.posts, assessment.times
    if only_newer and held and times.before is None:
        raise InputError(
            "the state does not say when its newest post was written, as earlier versions did not "
            "keep it; leave --only-newer out, and give a file of new posts only."
        )
    wanted = times.later(opened) if only_newer else opened
    if not assessment.fold(file, watch.passing(wanted) if watch else wanted, reading):
        notices.warn("these posts are in the state already: nothing was added")
        return {"rows": 0, "skipped": {}, "not_newer": 0, "cleaned": None}
    notices.rows(opened)
    if only_newer and times.not_newer:
        notices.tell(f"left out {times.not_newer:,} posts that are not newer")
    elif warning := times.warning(held):
        notices.warn(warning)
    cleaned = assessment.scoring.cleaned
    if cleaned is not None and (told := cleaned.in_words()):
        notices.tell(told)
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

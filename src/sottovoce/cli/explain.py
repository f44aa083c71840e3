"""``sottovoce explain``."""

from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._options import (
    BucketOption,
    FieldsOption,
    FormatOption,
    HeaderOption,
    KOption,
    LineLimitOption,
    ModelOption,
    ModeOption,
    MOption,
    TimezoneOption,
    TopicsOption,
    export_options,
    loaded_catalogue,
    loaded_models,
    opened_posts,
    parsed_bucket,
    parsed_setting,
    warn_about_rows,
    with_background,
)
from sottovoce.cli._output import AsJson, finite, progress, show_facts, show_json, show_rows
from sottovoce.cli._reading import (
    AUTO,
    AnyEncodingOption,
    CleanOption,
    DayFirstOption,
    DelimiterOption,
    MonthFirstOption,
)
from sottovoce.corpus.read._tally import DEFAULT_LINE_BYTES
from sottovoce.errors import ParameterError

MOST_NAMED = 20
MOST_READ = 20_000

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from sottovoce.assess._explain.explanation import Explanation, UserPosts
    from sottovoce.assess._explain.fewest import BandExit
    from sottovoce.assess._job import Assessment
    from sottovoce.assess.disclosure import DisclosureLevel
    from sottovoce.corpus.read import Corpus


def explain(
    posts: Annotated[list[Path], typer.Argument(help="Posts: user, time, text.")],
    user: Annotated[str, typer.Option(help="Whose rank to explain.")],
    topic: Annotated[str, typer.Option(help="For which topic.")],
    measure: Annotated[
        str | None,
        typer.Option(help="By which measure: lda-dt, bow-t, ent, ...; default: bow-t."),
    ] = None,
    model: ModelOption = None,
    topics: TopicsOption = None,
    k: KOption = 0.3,
    m: MOption = 3,
    bucket: BucketOption = None,
    mode: ModeOption = "corrected",
    without: Annotated[
        list[int] | None, typer.Option(help="What if this post (by its number) were not there?")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="The others' scores; POSTS must be all it was made from.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="How many posts and words to show.")] = 10,
    show_text: Annotated[bool, typer.Option("--show-text", help="Print their posts too.")] = False,
    clean: CleanOption = None,
    file_format: FormatOption = None,
    fields: FieldsOption = None,
    header: HeaderOption = None,
    delimiter: DelimiterOption = None,
    day_first: DayFirstOption = False,
    month_first: MonthFirstOption = False,
    timezone: TimezoneOption = "UTC",
    encoding: AnyEncodingOption = AUTO,
    max_line_bytes: LineLimitOption = DEFAULT_LINE_BYTES,
    as_json: AsJson = False,
) -> None:
    """Explain one user's rank: which posts and words put them there, and what if not.

    It shows words of their posts to whoever runs it. Posts are named by their number among the
    readable posts, counted from 1. Removal is exact: as if all had been scored again.

    Example: sottovoce explain export.csv --user ada --topic depression
    """
    from sottovoce.assess._background import measure_explained  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._explain.explain import Question  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._explain.explain import explain as explained  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._explain.explanation import UserPosts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess._job import Assessment, Request  # noqa: PLC0415 - keeps --help fast

    setting = parsed_setting(k, m, mode)
    request = Request(
        measures=(measure_explained(measure, state),),
        setting=setting,
        catalogue=loaded_catalogue(topics),
        spaces=loaded_models(model),
        topics=(topic,),
        bucket=parsed_bucket(bucket),
        clean=clean,
    )
    told = export_options(
        file_format,
        fields,
        header,
        timezone,
        encoding,
        max_line_bytes,
        delimiter,
        day_first=day_first,
        month_first=month_first,
    )
    opened = [opened_posts(path, told, encoding, state)[0] for path in posts]
    all_posts = _AllPosts(opened)
    request, _ = with_background(request, all_posts, state)
    measure = request.measures[0]
    assessment, users_posts = Assessment(request, state, to_save=False), UserPosts(user)
    if measure not in assessment.measures:
        raise ParameterError("explain takes one measure at a time, got all.")
    (topic,) = _one_topic(assessment, topic)
    question = Question(user, topic, assessment.measures[measure], setting)
    with progress("Scoring posts"):
        for path, each in zip(posts, opened, strict=True):
            _pass(assessment, users_posts, path, each)
    found = explained(
        assessment.state,
        assessment.scoring,
        users_posts,
        question,
        without=tuple(without or ()),
        most=most,
    )
    _show(found, users_posts, _levels(assessment, users_posts, topic), show_text, as_json)


def _levels(
    assessment: "Assessment", users_posts: "UserPosts", topic: str
) -> "dict[int, DisclosureLevel]":
    """How plainly each of the user's posts speaks of the topic, whatever others write."""
    from sottovoce.assess.disclosure import DisclosureLevel, DisclosureReader  # noqa: PLC0415 - fast --help

    reader = DisclosureReader(assessment.state.header.catalogue)
    numbers = users_posts.numbers.tolist()
    found = dict.fromkeys(numbers, DisclosureLevel.NONE)
    own = assessment.scoring.own_words(users_posts.table["text"].combine_chunks())
    # The first of many posts are read closely; it takes a quarter of a millisecond a post.
    for number, text in zip(numbers[:MOST_READ], own[:MOST_READ].to_pylist(), strict=True):
        for each in reader.read(text):
            if each.topic == topic:
                found[number] = each.level
    return found


class _AllPosts:
    """The posts of several files, one after another, each pass from the start."""

    def __init__(self, opened: "Sequence[Corpus]") -> None:
        self._opened = opened

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        return chain.from_iterable(self._opened)


def _one_topic(assessment: "Assessment", asked: str) -> tuple[str, ...]:
    """The topic by its name; a domain has several."""
    named = assessment.state.header.catalogue.named([asked])
    if len(named) > 1:
        raise ParameterError(f"explain takes one topic at a time; choose of {', '.join(named)}.")
    return named


def _pass(assessment: "Assessment", users_posts: "UserPosts", path: Path, opened: "Corpus") -> None:
    """Note the user's posts, and fold everybody's into a state that does not hold them yet."""
    batches = users_posts.passing(opened)
    if not assessment.fold(path, batches):
        for _ in batches:
            pass
    warn_about_rows(opened)


def _show(
    found: "Explanation",
    users_posts: "UserPosts",
    levels: "dict[int, DisclosureLevel]",
    show_text: bool,
    as_json: bool,
) -> None:
    posts = [
        {
            **asdict(share),
            "time": share.time.isoformat(),
            "bucket": share.bucket.isoformat(),
            # To people always; to programs, which can ask about everybody, only with the texts.
            **({} if as_json and not show_text else {"says": levels[share.number].words}),
            **({"text": users_posts.texts()[share.number]} if show_text else {}),
        }
        for share in found.posts
    ]
    words = [asdict(share) for share in found.words]
    without = None if found.without is None else asdict(found.without)
    interest = None if found.interest is None else asdict(found.interest)
    leaving = None if found.leaving is None else asdict(found.leaving)
    if as_json:
        record = {**asdict(found.position), "interest": interest, "posts": posts, "words": words}
        show_json(finite({**record, "without": without, "leaving": leaving}))
        return
    show_facts("Position", {**asdict(found.position), **(interest or {})})
    typer.echo(_outright(levels))
    # As --without takes it: a number in a table would have its thousands set apart.
    show_rows("Posts", [{**post, "number": str(post["number"])} for post in posts])
    typer.echo(
        "A post adds what the score would fall by without it; one that adds 0 would count if"
    )
    typer.echo("the stronger ones were gone. What it says outright it says to every reader.")
    if words:
        show_rows("Words", words)
        typer.echo("A word adds to the posts that hold the score up.")
    if found.leaving is not None:
        typer.echo(_exit_in_words(found.leaving))
    if without is not None:
        show_facts("What if", without)


def _exit_in_words(leaving: "BandExit") -> str:
    named = ", ".join(map(str, leaving.posts[:MOST_NAMED]))
    named += ", ..." if len(leaving.posts) > MOST_NAMED else ""
    posts = f"post {named}" if len(leaving.posts) == 1 else f"{len(leaving.posts)} posts ({named})"
    fewer = "no fewer would do" if leaving.smallest else "fewer might do"
    return f"Without {posts} they would not be in the {leaving.band}; {fewer}."


def _outright(levels: "dict[int, DisclosureLevel]") -> str:
    """What the posts say by themselves, and how many were read."""
    if len(levels) > MOST_READ:
        first = dict(islice(levels.items(), MOST_READ))
        return f"{_outright(first)} The other {len(levels) - MOST_READ:,} were not read for this."
    outright = [number for number, level in levels.items() if level.name == "OUTRIGHT"]
    about = sum(level.name == "ABOUT" for level in levels.values())
    if outright:
        named = ", ".join(map(str, outright[:MOST_NAMED])) + (
            ", ..." if len(outright) > MOST_NAMED else ""
        )
        return f"{len(outright)} of {len(levels)} posts say it outright: number {named}."
    if about:
        return f"{about} of {len(levels)} posts are about it; none says it outright."
    return f"No word of the topic was found in {len(levels)} posts."

"""``sottovoce explain``."""

from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli import _reading as formats
from sottovoce.cli._options import (
    BucketOption,
    KOption,
    ModelOption,
    ModeOption,
    MOption,
    TopicsOption,
    loaded_catalogue,
    loaded_models,
    opened_posts,
    parsed_bucket,
    parsed_mode,
    parsed_setting,
    warn_about_rows,
    with_background,
)
from sottovoce.cli._output import AsJson, finite, progress, show_facts, show_json, show_rows
from sottovoce.errors import ParameterError

MOST_NAMED = 20
MOST_READ = 20_000

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from sottovoce.assess.disclosure.levels import DisclosureLevel
    from sottovoce.assess.explain.explanation import BandExit, Explanation, PostShare, UserPosts
    from sottovoce.assess.job import Assessment
    from sottovoce.corpus.read.corpus import Corpus


def explain(
    posts: Annotated[list[Path], typer.Argument(help="Posts: user, time, text.")],
    user: Annotated[str, typer.Option(help="Whose rank to explain.")],
    topic: Annotated[str, typer.Option(help="For which topic, one at a time.")],
    measure: Annotated[
        str | None,
        typer.Option(
            help="By which measure: lda-dt, bow-t, ent, ...; default: the only one by which the "
            "state was last ranked, else bow-t."
        ),
    ] = None,
    model: ModelOption = None,
    topics: TopicsOption = None,
    k: KOption = 0.3,
    m: MOption = 3,
    bucket: BucketOption = None,
    mode: ModeOption = None,
    without: Annotated[
        list[int] | None,
        typer.Option(help="Their rank without this post of theirs, by its number."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="State to rank in; POSTS must be all the posts it was made from."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="How many posts and words to show.")] = 10,
    show_text: Annotated[bool, typer.Option("--show-text", help="Print their posts too.")] = False,
    clean: formats.CleanOption = None,
    file_format: formats.FormatOption = None,
    fields: formats.FieldsOption = None,
    header: formats.HeaderOption = None,
    delimiter: formats.DelimiterOption = None,
    day_first: formats.DayFirstOption = False,
    month_first: formats.MonthFirstOption = False,
    timezone: formats.TimezoneOption = "UTC",
    encoding: formats.AnyEncodingOption = formats.AUTO,
    longest: formats.LineLimitOption = formats.LONGEST,
    as_json: AsJson = False,
) -> None:
    """Explain one user's rank: the posts and words behind it, and the rank without some.

    It shows words of their posts to whoever runs it. Posts are named by their number among the
    readable posts, counted from 1. Removal is exact: as if all had been scored again.

    Example: sottovoce explain export.csv --user ada --topic depression
    """
    from sottovoce.assess.background import measure_explained  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.explain.explain import Question  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.explain.explain import explain as explained  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.explain.explanation import UserPosts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.job import Assessment, Request  # noqa: PLC0415 - keeps --help fast

    request = Request(
        measures=(measure_explained(measure, state),),
        setting=parsed_setting(k, m, mode or "corrected"),
        mode=parsed_mode(mode),
        catalogue=loaded_catalogue(topics),
        spaces=loaded_models(model),
        topics=(topic,),
        bucket=parsed_bucket(bucket),
        clean=clean,
    )
    told = formats.read_options(
        file_format, fields, header, timezone, encoding, longest, delimiter, day_first, month_first
    )
    opened = [opened_posts(path, told, encoding, state)[0] for path in posts]
    all_posts = _AllPosts(opened)
    request, _ = with_background(request, all_posts, state)
    measure = request.measures[0]
    assessment, users_posts = Assessment(request, state, to_save=False), UserPosts(user)
    if measure not in assessment.measures:
        raise ParameterError("explain takes one measure at a time, got all.")
    (topic,) = _one_topic(assessment, topic)
    question = Question(user, topic, assessment.measures[measure], assessment.setting)
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
    asked = {"measure": measure, "topic": topic}
    scores = question.measure.score(assessment.state, topic, assessment.setting)
    alike = int((scores == found.position.score).sum())
    levels = _levels(assessment, users_posts, topic)
    _show(found, asked, users_posts, levels, alike, show_text, as_json)


def _levels(
    assessment: "Assessment", users_posts: "UserPosts", topic: str
) -> "dict[int, DisclosureLevel]":
    """How plainly each of the user's posts speaks of the topic, whatever others write."""
    from sottovoce.assess.disclosure.disclosures import DisclosureReader  # noqa: PLC0415 - fast --help
    from sottovoce.assess.disclosure.levels import DisclosureLevel  # noqa: PLC0415 - fast --help

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
    asked: dict[str, str],
    users_posts: "UserPosts",
    levels: "dict[int, DisclosureLevel]",
    alike: int,
    show_text: bool,
    as_json: bool,
) -> None:
    posts = [
        {
            **asdict(share),
            "time": share.time.isoformat(),
            "bucket": share.bucket.isoformat(),
            # To people always; to programs, which can ask about everybody, only with the texts.
            **({} if as_json and not show_text else {"says": _said(share, levels[share.number])}),
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
        more = {**asked, "band": found.band, "posts_in_all": len(levels)}
        more["users_with_this_score"] = alike
        show_json(finite({**record, "without": without, "leaving": leaving, **more}))
        return
    place = {**asked, **asdict(found.position), "band": found.band}
    place["rank"] = _places(found.position.rank, alike)
    show_facts("Position", {**place, **(interest or {})})
    typer.echo(_outright(levels, len(words)))
    shown = "all" if len(posts) == len(levels) else f"the {len(posts)} that count most"
    # As --without takes it: a number in a table would have its thousands set apart.
    rows = [
        {"number": str(share.number), "time (UTC)": f"{share.time:%Y-%m-%d %H:%M}", **post}
        for share, post in zip(found.posts, map(_without_time, posts), strict=True)
    ]
    show_rows(f"Posts: {shown} of {len(levels):,}", rows)
    if len(posts) < len(levels):
        typer.echo("--most N shows more of them.")
    for sentence in _about_adding(found.posts):
        typer.echo(sentence)
    if words:
        show_rows("Words", words)
        typer.echo("A word adds to the posts that hold the score up.")
    if found.leaving is not None:
        typer.echo(_exit_in_words(found.leaving))
    if without is not None:
        show_facts("What if", without)


def _without_time(post: dict[str, Any]) -> dict[str, Any]:
    """The rest of a row, whose number and time are written for a table."""
    return {name: value for name, value in post.items() if name not in {"number", "time"}}


def _places(rank: int | None, alike: int) -> str | int | None:
    """The places that a ranking may give to who shares a score."""
    if rank is None or alike <= 1:
        return rank
    return f"between {rank:,} and {rank + alike - 1:,}: {alike:,} users have this score"


def _said(share: "PostShare", level: "DisclosureLevel") -> str:
    """How plainly a post speaks; one that counts does not say nothing."""
    counts = share.adds or share.strength
    return "says nothing outright" if not level and counts else level.words


def _about_adding(shares: "Sequence[PostShare]") -> "Iterator[str]":
    """How to read what posts add, as far as it is there to be read."""
    yield "A post adds what the score would fall by without it."
    idle = [share for share in shares if not share.adds]
    if any(share.strength for share in idle):
        yield "One that has a strength and adds 0 would count if the stronger ones were gone."
    if any(share.strength is None for share in idle):
        yield "One that adds 0 has no word that counts, or only words of their other posts too."
    yield "What a post says outright it says to every reader."


def _exit_in_words(leaving: "BandExit") -> str:
    named = ", ".join(map(str, leaving.posts[:MOST_NAMED]))
    named += ", ..." if len(leaving.posts) > MOST_NAMED else ""
    posts = f"post {named}" if len(leaving.posts) == 1 else f"{len(leaving.posts)} posts ({named})"
    fewer = "no fewer would do" if leaving.smallest else "fewer might do"
    return f"Without {posts} they would not be in the {leaving.band}; {fewer}."


def _outright(levels: "dict[int, DisclosureLevel]", words: int) -> str:
    """What the posts say by themselves, and how many were read; so many ``words`` count."""
    if len(levels) > MOST_READ:
        first = dict(islice(levels.items(), MOST_READ))
        rest = f"The other {len(levels) - MOST_READ:,} were not read for this."
        return f"{_outright(first, words)} {rest}"
    outright = [number for number, level in levels.items() if level.name == "OUTRIGHT"]
    about = sum(level.name == "ABOUT" for level in levels.values())
    if outright:
        named = ", ".join(map(str, outright[:MOST_NAMED])) + (
            ", ..." if len(outright) > MOST_NAMED else ""
        )
        return f"{len(outright)} of {len(levels)} posts say it outright: number {named}."
    if about:
        return f"{about} of {len(levels)} posts are about it; none says it outright."
    posts = "1 post" if len(levels) == 1 else f"{len(levels)} posts"
    if words:
        rests = "1 word that speaks" if words == 1 else "words that speak"
        return f"None of {posts} says it outright; the score rests on {rests} for it, see Words."
    return f"No word of the topic was found in {posts}."

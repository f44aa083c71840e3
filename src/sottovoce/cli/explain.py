"""``sottovoce explain``."""

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._options import CleanOption, ReadingOptions, ScoreOptions, needs_extra
from sottovoce.cli._output import AsJson, finite, show_facts, show_json, show_rows

MOST_NAMED = 20
MOST_READ = 20_000
"""Posts of one user that are read closely; it takes a quarter of a millisecond a post."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sottovoce.assess.assess import ExplainedRank
    from sottovoce.assess.disclosure.levels import DisclosureLevel
    from sottovoce.assess.explanation import BandExit, PostShare


def explain(
    posts: list[Path],
    *,
    user: str,
    topic: str,
    measure: str | None = None,
    scoring: ScoreOptions,
    without: list[int] | None = None,
    state: Path | None = None,
    most: Annotated[int, typer.Option(min=1)] = 10,
    show_text: bool = False,
    clean: CleanOption = None,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> None:
    """Explain one user's rank: the posts and words behind it, and the rank without some.

    It shows words of their posts to whoever runs it. Posts are numbered from 1, and unreadable
    ones are skipped. Removal is exact, as if everything were scored again.

    Example: sottovoce explain export.csv --user ada --topic depression

    Args:
        posts: Posts: user, time, text.
        user: Whose rank to explain.
        topic: The topic to explain.
        measure: The measure: lda-dt, bow-t, ent, ...; default: the only one that last ranked the
            state, else bow-t.
        without: Also show their rank without the post of this number.
        state: State to rank them in; POSTS must hold all the posts it was made from.
        most: How many posts and words to show.
        show_text: Print their posts too.
    """
    from sottovoce.assess.assess import explain_rank  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.request import AssessRequest, choose_measure  # noqa: PLC0415 - fast --help
    from sottovoce.cli._community_report import Terminal  # noqa: PLC0415 - keeps --help fast

    options = asdict(scoring) | {"measures": [choose_measure(measure, state)], "topic": [topic]}
    request = AssessRequest(
        None, state=state, clean=clean, reading=reading.to_read_options(), **options
    )
    with needs_extra("topics"):
        why = explain_rank(
            request, posts, user, Terminal(reading), without=without or (), most=most
        )
    _show(why, show_text, as_json)


def _show(why: "ExplainedRank", show_text: bool, as_json: bool) -> None:
    found, levels = why.found, _read_levels(why)
    posts = []
    for share in found.posts:
        posts.append(asdict(share))
        posts[-1] |= {"time": share.time.isoformat(), "bucket": share.bucket.isoformat()}
        # To people always; to programs, which can ask about everybody, only with the texts.
        if show_text or not as_json:
            posts[-1]["says"] = _describe(share, levels[share.number])
        if show_text:
            posts[-1]["text"] = why.texts[share.number]
    words = [asdict(share) for share in found.words]
    more = {
        name: None if (part := getattr(found, name)) is None else asdict(part)
        for name in ("interest", "without", "leaving")
    }
    position, asked = asdict(found.position), {"measure": why.measure, "topic": why.topic}
    if as_json:
        record = position | {"interest": more.pop("interest"), "posts": posts, "words": words}
        counts = {"posts_in_all": len(levels), "users_with_this_score": why.sharing}
        show_json(finite({**record, **more, **asked, "band": found.band, **counts}))
        return
    position["rank"] = _describe_places(found.position.rank, why.sharing)
    show_facts("Position", {**asked, **position, "band": found.band, **(more["interest"] or {})})
    typer.echo(_count_outright(levels, len(words)))
    _show_posts(found.posts, posts, len(levels))
    if words:
        show_rows("Words", words)
        typer.echo("The share of a word is of the posts that hold the score up.")
    if found.leaving is not None:
        typer.echo(_describe_exit(found.leaving))
    if more["without"] is not None:
        show_facts("What if", more["without"])


def _read_levels(why: "ExplainedRank") -> "dict[int, DisclosureLevel]":
    """How plainly each post speaks of the topic, whatever others write; the first of very many."""
    from sottovoce.assess.disclosure.disclosures import DisclosureReader  # noqa: PLC0415 - fast --help
    from sottovoce.assess.disclosure.levels import DisclosureLevel  # noqa: PLC0415 - fast --help

    reader = DisclosureReader(why.catalogue)
    found = dict.fromkeys(why.own_words, DisclosureLevel.NONE)
    for number, text in islice(why.own_words.items(), MOST_READ):
        for each in reader.read(text):
            if each.topic == why.topic:
                found[number] = each.level
    return found


def _show_posts(shares: "Sequence[PostShare]", posts: list[dict[str, Any]], in_all: int) -> None:
    shown = "all" if len(posts) == in_all else f"the {len(posts)} that count most"
    # As --without takes it: a number in a table would have its thousands set apart.
    rows = [
        {"number": str(share.number), "time (UTC)": f"{share.time:%Y-%m-%d %H:%M}", **post}
        for share, post in zip(shares, map(_without_time, posts), strict=True)
    ]
    show_rows(f"Posts: {shown} of {in_all:,}", rows)
    if len(posts) < in_all:
        typer.echo("--most N shows more of them.")
    for sentence in _explain_adding(shares):
        typer.echo(sentence)


def _without_time(post: dict[str, Any]) -> dict[str, Any]:
    """The rest of a row, whose number and time are written for a table."""
    return {name: value for name, value in post.items() if name not in {"number", "time"}}


def _describe_places(rank: int | None, sharing: int) -> str | int | None:
    """The places that a ranking may give to who shares a score."""
    if rank is None or sharing <= 1:
        return rank
    return f"between {rank:,} and {rank + sharing - 1:,}: {sharing:,} users have this score"


def _describe(share: "PostShare", level: "DisclosureLevel") -> str:
    """How plainly a post speaks; one that counts does not say nothing."""
    counts = share.adds or share.strength
    return "says nothing outright" if not level and counts else level.words


def _explain_adding(shares: "Sequence[PostShare]") -> "Iterator[str]":
    """How to read what posts add, as far as it is there to be read."""
    yield "A post adds as much as the score would fall without it."
    idle = [share for share in shares if not share.adds]
    if any(share.strength for share in idle):
        yield "A post with a strength that adds 0 would count if stronger ones were gone."
    if any(share.strength is None for share in idle):
        yield "A post that adds 0 has no word that counts, or only words of their other posts."
    yield "Anyone who reads a post that says it outright can see it."


def _describe_exit(leaving: "BandExit") -> str:
    named = ", ".join(map(str, leaving.posts[:MOST_NAMED]))
    named += ", ..." if len(leaving.posts) > MOST_NAMED else ""
    posts = f"post {named}" if len(leaving.posts) == 1 else f"{len(leaving.posts)} posts ({named})"
    fewer = "no smaller number would do" if leaving.smallest else "fewer might do"
    return f"Without {posts} they would not be in the {leaving.band}; {fewer}."


def _count_outright(levels: "dict[int, DisclosureLevel]", words: int) -> str:
    """What the posts say by themselves, and how many were read; so many ``words`` count."""
    if len(levels) > MOST_READ:
        first = dict(islice(levels.items(), MOST_READ))
        rest = f"The other {len(levels) - MOST_READ:,} were not read for this."
        return f"{_count_outright(first, words)} {rest}"
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
        return f"None of {posts} says it outright; the score comes from {rests} for it, see Words."
    return f"No word of the topic was found in {posts}."

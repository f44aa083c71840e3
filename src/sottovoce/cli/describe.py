"""``sottovoce describe``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.reading import (
    EncodingOption,
    FieldsOption,
    FormatOption,
    HeaderOption,
    LineLimitOption,
    TimezoneOption,
    read_options,
    skipped_rows,
    warn_about_rows,
)
from sottovoce.cli.shown import AsJson, progress, show_facts, show_json
from sottovoce.corpus.reading.options import DEFAULT_LINE_BYTES, ReadOptions


def describe(
    posts: Annotated[Path, typer.Argument(help="Posts: user, time, text.")],
    truth: Annotated[
        Path | None, typer.Option(help="Truth to check against the posts: user, topic, ...")
    ] = None,
    file_format: FormatOption = None,
    fields: FieldsOption = None,
    header: HeaderOption = None,
    timezone: TimezoneOption = "UTC",
    encoding: EncodingOption = "utf-8",
    max_line_bytes: LineLimitOption = DEFAULT_LINE_BYTES,
    as_json: AsJson = False,
) -> None:
    """Describe a community in numbers: no word and no name is shown.

    Example: sottovoce describe community/posts.parquet --truth community/truth.parquet
    """
    from sottovoce.corpus.reading import open_posts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.summary import QUANTILES, summarise_posts  # noqa: PLC0415 - likewise

    options = read_options(file_format, fields, header, timezone, encoding, max_line_bytes)
    corpus = open_posts(posts, options=options)
    with progress("Reading posts"):
        summary = asdict(summarise_posts(corpus))
        coverage = {} if truth is None else _coverage(truth, posts, options)
    weeks = summary.pop("posts_by_week")
    spans = {
        name: {
            f"{share:.0%}": value for share, value in zip(QUANTILES, summary.pop(name), strict=True)
        }
        for name in ("posts_per_user", "words_per_post")
    }
    warn_about_rows(corpus)
    if as_json:
        by_week = {week.isoformat(): number for week, number in weeks.items()}
        skips = {"skipped": skipped_rows(corpus), "repaired": corpus.tally.repaired}
        show_json({**summary, **spans, "posts_by_week": by_week, **skips, **coverage})
        return
    shown = {name: _span(values) for name, values in spans.items()}
    show_facts("Community", {**summary, "weeks": len(weeks), **shown, **coverage})


def _coverage(truth: Path, posts: Path, options: ReadOptions) -> dict[str, int]:
    from sottovoce.corpus.reading import (  # noqa: PLC0415 - keeps --help fast
        check_truth_against_posts,
        open_posts,
        read_truth,
    )

    return check_truth_against_posts(
        read_truth(truth), open_posts(posts, options=options)
    )._asdict()


def _span(values: dict[str, float]) -> str:
    return ", ".join(f"{share}: {value:,.0f}" for share, value in values.items())

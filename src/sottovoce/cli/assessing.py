"""Options and steps that the commands around an assessment share."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.reading import warn_about_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.assess.buckets import Bucket
    from sottovoce.assess.job import Assessment
    from sottovoce.assess.setting import Setting
    from sottovoce.corpus.reading import ReadOptions
    from sottovoce.topics.catalogue import Catalogue
    from sottovoce.topics.space import Mode, Space

ModelOption = Annotated[
    list[Path] | None,
    typer.Option("--model", help="A model of topics train; lda and w2v measures need theirs."),
]
TopicsOption = Annotated[
    Path | None, typer.Option("--topics", help="The catalogue of topics, in TOML.")
]
KOption = Annotated[
    float, typer.Option("-k", help="Share of a domain that a broad interest covers.")
]
MOption = Annotated[
    int, typer.Option("-m", help="Number of time buckets that a lasting interest covers.")
]
BucketOption = Annotated[
    str | None, typer.Option("--bucket", help="Days, weeks or months: 1d, 1w (default), 1mo.")
]
ModeOption = Annotated[
    str, typer.Option("--mode", help="'corrected', or 'paper': exactly what the paper prints.")
]


def the_setting(k: float, m: int, mode: str) -> "Setting":
    """The options -k, -m and --mode."""
    from sottovoce.assess.setting import Setting  # noqa: PLC0415 - keeps --help fast

    return Setting(k, m, cast("Mode", mode))


def the_mode(written: str | None) -> "Mode | None":
    """The option --mode where none means the state's; ``the_setting`` checks it."""
    return cast("Mode | None", written)


def the_bucket(written: str | None) -> "Bucket | None":
    """The option --bucket."""
    from sottovoce.assess.buckets import Bucket  # noqa: PLC0415 - keeps --help fast

    return None if written is None else Bucket.parse(written)


def the_catalogue(path: Path | None) -> "Catalogue | None":
    """The option --topics."""
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - keeps --help fast

    return None if path is None else Catalogue.load(path)


def the_models(paths: "Sequence[Path] | None") -> "tuple[Space, ...]":
    """The option --model."""
    if not paths:
        return ()
    with needs_extra("topics"):
        from sottovoce.topics import load_model  # noqa: PLC0415 - keeps --help fast

        return tuple(load_model(path) for path in paths)


def fold_posts(assessment: "Assessment", posts: Path, reading: "ReadOptions") -> None:
    """Fold a file of posts into the state, unless these very bytes are in it already."""
    from sottovoce.corpus.reading import open_posts  # noqa: PLC0415 - keeps --help fast

    opened = open_posts(posts, options=reading)
    if assessment.fold(posts, opened, reading):
        warn_about_rows(opened)
    else:
        typer.echo("these posts are in the state already: nothing was added", err=True)


def finite(value: object) -> object:
    """As JSON can hold it: the only user of a word scores infinity, which is null there."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

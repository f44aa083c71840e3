"""``sottovoce study``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.reading import FieldsOption, FormatOption, HeaderOption, read_options
from sottovoce.cli.shown import AsJson, progress, show_json
from sottovoce.cli.study_shown import show_study
from sottovoce.corpus.reading.options import DEFAULT_LINE_BYTES
from sottovoce.errors import ParameterError


def study(
    name: Annotated[str, typer.Argument(help="'list', or a name that it shows.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows.json, the figures and report.html.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="complaints, news, simulated, or a file of documents: text, label."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Repetitions behind each interval.")] = None,
    documents: Annotated[int | None, typer.Option(help="How many documents to use.")] = None,
    embedding: Annotated[
        Path | None, typer.Option(help="Public word vectors, GloVe or word2vec.")
    ] = None,
    posts: Annotated[
        Path | None, typer.Option(help="Assess studies: your own posts (user, time, text).")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="Assess studies: who is sensitive (user, topic, ...).")
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="Assess studies: your catalogue of topics, in TOML.")
    ] = None,
    model: Annotated[
        list[Path] | None, typer.Option(help="Assess studies: a model of `topics train`.")
    ] = None,
    half: Annotated[
        str | None, typer.Option(help="assess-blogs: development (default), test or all users.")
    ] = None,
    labels_column: Annotated[
        str | None, typer.Option(help="assess-blogs: the posts' column of topics, a;b;c.")
    ] = None,
    votes: Annotated[
        list[Path] | None, typer.Option(help="Judges' votes, for assess-table-1; may be repeated.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="scale: about how long to measure; default: 180.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: a look, not a result.")
    ] = False,
    file_format: FormatOption = None,
    fields: FieldsOption = None,
    header: HeaderOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a table or figure of the papers anew, the paper's figures beside ours.

    Example: sottovoce study release-figure-2 --out study --seeds 5
    """
    with needs_extra("all"):
        from sottovoce.study.catalogue import STUDIES, study_named  # noqa: PLC0415 - fast --help
        from sottovoce.study.options import Options  # noqa: PLC0415 - fast --help

    if name == "list":
        _show([{"study": key, "shows": each.title} for key, each in STUDIES.items()], as_json)
        return
    chosen = study_named(name)
    read = read_options(file_format, fields, header, "UTC", "utf-8", DEFAULT_LINE_BYTES)
    if votes and not chosen.takes_votes:
        raise ParameterError(f"{name} takes no votes; leave --votes out.")
    if (half or labels_column) and not chosen.takes_half:
        raise ParameterError(f"{name} takes no --half or --labels-column; leave them out.")
    if seconds is not None and not chosen.takes_seconds:
        raise ParameterError(f"{name} takes no --seconds; leave it out.")
    options = Options(
        seeds,
        documents,
        data,
        read,
        embedding,
        quick,
        votes=tuple(votes or ()),
        posts=posts,
        truth=truth,
        topics=topics,
        models=tuple(model or ()),
        half=half,
        labels_column=labels_column,
        seconds=seconds,
    )
    with progress(f"Running study {name}"):
        result = chosen.runner(options)
    show_study(result, name=name, title=chosen.title, out=out, as_json=as_json)


def _show(rows: list[dict[str, str]], as_json: bool) -> None:
    if as_json:
        show_json(rows)
    else:
        for row in rows:
            typer.echo(f"{row['study']:<20}{row['shows']}")

"""``sottovoce bench``."""

from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson, progress, show_json, show_rows
from sottovoce.errors import ParameterError

NAMES = ("tokenize",)


def bench(
    name: Annotated[str, typer.Argument(help=f"Which bench: {', '.join(NAMES)}.")],
    size_mb: Annotated[
        float, typer.Option("--size", min=0.01, help="Megabytes of text (tokenize).")
    ] = 100.0,
    as_json: AsJson = False,
) -> None:
    """Compare ours with its peers: same work, same run.

    A ratio above 1 means ours is better. `make peers` installs the peers.

    Example: sottovoce bench tokenize --json
    """
    if name not in NAMES:
        raise ParameterError(f"bench must be one of {', '.join(NAMES)}, got {name!r}.")
    from sottovoce.bench.tokenize import bench_tokenize  # noqa: PLC0415 - keeps --help fast

    with progress(f"Running bench {name}"):
        rows = bench_tokenize(size_mb)
    if as_json:
        show_json(rows)
        return
    show_rows(f"bench {name}", rows)
    for row in rows:
        if row["theirs"] is None:
            typer.echo(f"{row['peer']} is not installed; to compare with it: make peers")

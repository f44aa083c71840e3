"""``sottovoce rank-edges``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson
from sottovoce.errors import InputError


def rank_edges(
    server: Annotated[str, typer.Argument(help="The URL of a rank server that has published.")],
    out: Annotated[Path, typer.Option(help="Where the edges go, for rank-server --edges.")] = Path(
        "edges.json"
    ),
    buckets: Annotated[int, typer.Option(help="How many score buckets to make, at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Find bucket edges near the limits of the top 1, 5, 10, 25 and 50%.

    They are read off histograms that everybody may ask the server for. Start a
    new server with them; after two or three such rounds they hardly move.

    Example: sottovoce rank-edges http://127.0.0.1:8765 --out edges.json
    """
    from sottovoce.advisor.rank.description import (  # noqa: PLC0415 - fast --help
        Description,
        RankedTopic,
    )
    from sottovoce.advisor.rank.edges import fitted_buckets, save_edges  # noqa: PLC0415 - fast --help
    from sottovoce.advisor.rank.latest import latest_histogram  # noqa: PLC0415 - fast --help
    from sottovoce.advisor.rank.transport import HttpTransport  # noqa: PLC0415 - fast --help

    asked = HttpTransport(server)
    rules = Description.from_record(asked.call("GET", "/description"))
    found = {topic.name: latest_histogram(asked, rules, topic.name) for topic in rules.topics}
    if not any(found.values()):
        raise InputError(
            "the server has published no histogram yet, or too few people reported; ask again "
            "after the period."
        )
    topics = {
        topic.name: topic
        if (histogram := found[topic.name]) is None
        else RankedTopic(topic.name, topic.measure, fitted_buckets(histogram, rules, buckets))
        for topic in rules.topics
    }
    save_edges(out, topics)
    fitted = [name for name, histogram in found.items() if histogram is not None]
    kept = [name for name, histogram in found.items() if histogram is None]
    if as_json:
        typer.echo(json.dumps({"edges": str(out), "fitted": fitted, "kept": kept}))
        return
    typer.echo(f"Edges fitted for {', '.join(fitted)}: {out}")
    if kept:
        typer.echo(f"Nothing was published about {', '.join(kept)}: their edges stay.")
    typer.echo("A server with other edges needs a store of its own: rank-server --edges --store.")
    if rules.mode == "noise":
        typer.echo("In the noise mode whoever reports under new edges pays for her bucket anew.")

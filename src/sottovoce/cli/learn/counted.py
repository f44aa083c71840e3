"""``sottovoce learn topics``: what a count of pairs shows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, progress, show_facts, show_json, show_rows

if TYPE_CHECKING:
    from sottovoce.learn.count.opened import TogetherCounts
    from sottovoce.learn.count.reading import CountedTopics


def topics(
    counts: Annotated[Path, typer.Argument(help="A count of pairs: learn count --out x.counts.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    topics: Annotated[int, typer.Option(help="How many topics are looked for.")] = 25,
    shortest: Annotated[
        int, typer.Option(help="Shortest word, in characters, as it was counted.")
    ] = 2,
    top: Annotated[int, typer.Option(help="How many words of each topic are shown.")] = 8,
    seed: Annotated[int, typer.Option(help="One seed gives one result.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Read topics from pairs of words that were counted together; costs nothing more.

    The noise of the sum is known: its variance says which words stand together beyond it. The
    model is one that `assess --model` and `topics show` take.

    Example: sottovoce learn topics pairs.counts --topics 25 --out model
    """
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast

    check_folder(out)
    with needs_extra("learn"), needs_extra("topics"):
        from sottovoce.corpus.words.rules import TokenRules  # noqa: PLC0415 - keeps --help fast
        from sottovoce.learn.count.reading import counted_topics  # noqa: PLC0415 - keeps --help fast

        rules = TokenRules(shortest=shortest)
        with progress("Reading"):
            found = counted_topics(_read(counts), topics, seed=seed)
            found.save(out, rules)
    warning = found.warning()
    if warning is not None:
        typer.echo(f"warning: {warning}", err=True)
    _show(found, out, top, as_json)


def _read(path: Path) -> "TogetherCounts":
    from sottovoce.corpus.read.bytes import check_file, readable  # noqa: PLC0415 - fast --help
    from sottovoce.learn.count.opened import TogetherCounts  # noqa: PLC0415 - keeps --help fast

    check_file(path)
    with readable(str(path)):
        data = path.read_bytes()
    return TogetherCounts.from_bytes(data)


def _show(found: "CountedTopics", out: Path, top: int, as_json: bool) -> None:
    facts = {
        "topics": len(found.components),
        "words": len(found.words),
        "dimensions above the noise": found.dimensions,
        "folder": out,
    }
    if as_json:
        show_json(
            {
                "topics": found.top(top),
                "words": len(found.words),
                "dimensions": found.dimensions,
                "share": found.share,
                "held_out": found.held_out,
                "folder": str(out),
            }
        )
        return
    show_facts("Topics of all peers' documents", facts)
    show_rows("the largest first", found.top(top))

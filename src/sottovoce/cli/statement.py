"""``sottovoce statement``: a privacy statement from a card."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_json
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from sottovoce.report._statement import PrivacyStatement

_MOST_BYTES = 1 << 20


def statement(
    source: Annotated[
        str,
        typer.Argument(help="A released folder, a .counts file, or a rank server's URL or rules."),
    ],
    out: Annotated[Path | None, typer.Option(help="File for the statement, in Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a privacy statement: what a release, count or rank server promises, and what not.

    It answers the questions of NIST SP 800-226 from the card alone, has no figure
    that the card does not hold, and marks what whoever publishes it must fill in.
    Rules are what `rank-server --dry-run --json` prints.

    Example: sottovoce statement released --out statement.md
    """
    made = _statement(source)
    if out is not None:
        from sottovoce._files import whole_file  # noqa: PLC0415 - keeps --help fast

        with whole_file(out) as part:
            part.write_text(made.markdown(), encoding="utf-8")
    if as_json:
        show_json({**made.facts(), "file": out})
    elif out is None:
        typer.echo(made.markdown(), nl=False)
    else:
        typer.echo(f"Wrote {out}.")


def _statement(source: str) -> "PrivacyStatement":
    path = Path(source)
    if source.startswith(("http://", "https://")):
        from sottovoce.advisor.rank._transport import HttpTransport  # noqa: PLC0415 - fast --help

        return _of_rules(HttpTransport(source).call("GET", "/description"))
    if path.is_dir():
        return _of_release(path)
    if path.suffix == ".counts":
        return _of_count(path)
    return _of_rules(_rules(path))


def _of_release(folder: Path) -> "PrivacyStatement":
    with needs_extra("release"):
        from sottovoce.release._folder import released_card  # noqa: PLC0415 - fast --help
        from sottovoce.report._release_statement import release_statement  # noqa: PLC0415 - fast --help

    return release_statement(released_card(folder))


def _of_count(path: Path) -> "PrivacyStatement":
    from sottovoce.corpus.read._bytes import check_file, readable  # noqa: PLC0415 - fast --help

    with needs_extra("learn"):
        from sottovoce.learn.count import TogetherCounts  # noqa: PLC0415 - fast --help
        from sottovoce.report._count_statement import count_statement  # noqa: PLC0415 - fast --help

    check_file(path)
    with readable(str(path)):
        data = path.read_bytes()
    return count_statement(TogetherCounts.from_bytes(data))


def _of_rules(record: dict[str, object]) -> "PrivacyStatement":
    from sottovoce.advisor.rank._description import Description  # noqa: PLC0415 - fast --help
    from sottovoce.advisor.rank._statement import rank_statement  # noqa: PLC0415 - fast --help

    return rank_statement(Description.from_record(record))


def _rules(path: Path) -> dict[str, object]:
    from sottovoce._files import small_text  # noqa: PLC0415 - fast --help

    try:
        record = json.loads(small_text(path, _MOST_BYTES, "the rules of a rank server"))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        record = None
    if not isinstance(record, dict):
        raise InputError(
            f"{path} is no released folder, .counts file or rules of a rank server; give one of "
            "these, or a rank server's URL."
        )
    return record

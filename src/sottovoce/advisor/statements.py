"""The privacy statement of whatever is published: a release, a count, or a rank server's rules."""

from os import PathLike
from pathlib import Path

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.statement import rank_statement
from sottovoce.advisor.rank.transport import HttpTransport
from sottovoce.corpus.read.bytes import check_file, readable
from sottovoce.errors import InputError
from sottovoce.files import small_text
from sottovoce.json import parse_json
from sottovoce.report.statement import PrivacyStatement

_MOST_BYTES = 1 << 20


def make_statement(source: str | PathLike[str]) -> PrivacyStatement:
    """A privacy statement: what a release, count or rank server promises, and what not.

    What ``sottovoce statement`` does: it answers the questions of NIST SP 800-226 from the card
    alone. Its ``markdown()`` is the text.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = sv.release_counts(
    ...         ["my debt", "a loan"], words=["debt", "loan"], epsilon=2, precision=2,
    ...         ledger=f"{folder}/my.ledger", out=f"{folder}/released",
    ...     )
    ...     told = sv.make_statement(f"{folder}/released")
    >>> told.markdown().splitlines()[0][:19]
    '# Privacy statement'

    Args:
        source: a released folder, a .counts file, or a rank server's URL or rules.
    """
    path, named = Path(source), str(source)
    if named.startswith(("http://", "https://")):
        return rank_statement(
            Description.from_record(HttpTransport(named).call("GET", "/description"))
        )
    if path.is_dir():
        return _of_release(path)
    if path.suffix == ".counts":
        return _of_count(path)
    return rank_statement(Description.from_record(read_rules(path)))


def _of_release(folder: Path) -> PrivacyStatement:
    from sottovoce.release.folder import released_card  # noqa: PLC0415 - slow to import
    from sottovoce.report.release_statement import release_statement  # noqa: PLC0415 - likewise

    return release_statement(released_card(folder))


def _of_count(path: Path) -> PrivacyStatement:
    from sottovoce.learn.count import TogetherCounts  # noqa: PLC0415 - slow to import
    from sottovoce.report.count_statement import count_statement  # noqa: PLC0415 - likewise

    check_file(path)
    with readable(str(path)):
        data = path.read_bytes()
    return count_statement(TogetherCounts.from_bytes(data))


def read_rules(path: Path) -> dict[str, object]:
    """The rules of a rank server, as it prints them."""
    try:
        record = parse_json(small_text(path, _MOST_BYTES, "the rules of a rank server"))
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

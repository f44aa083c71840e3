"""How results show themselves, in a notebook or printed: plain tables, every cell escaped."""

from collections.abc import Mapping, Sequence
from html import escape


def html_table(rows: Sequence[Mapping[str, object]], caption: str = "") -> str:
    """Rows of the same keys as a table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(_show_value(value))}</td>" for value in row.values())
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_facts(facts: Mapping[str, object], caption: str = "") -> str:
    """Names and values, one below the other."""
    return html_table([{"": name, " ": value} for name, value in facts.items()], caption)


def text_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows of the same keys as lines of text, the columns below each other.

    >>> print(text_table([{"band": "top 1%", "users": 1234}]))
    band    users
    top 1%  1,234
    """
    lines = [list(rows[0]) if rows else [], *([*map(_show_value, row.values())] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _show_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if value is None:
        return "-"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)

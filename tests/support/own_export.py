"""An export such as a reader of the guide has: ``ada`` is in it, and writes about a depression."""

import csv
from pathlib import Path

from support.forum_export import NAMES, forum_rows


def write_own_export(folder: Path, rows: int = 400) -> None:
    """``export.csv``, and ``new.csv`` with the posts of later."""
    held = forum_rows(rows)
    ada = held.afflicted[0]
    named = [[value if value != ada else "ada" for value in row] for row in held.rows]
    later = len(named) * 3 // 4
    for name, part in (("export.csv", named), ("new.csv", named[later:])):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(NAMES)
            writer.writerows(part[:later] if name == "export.csv" else part)

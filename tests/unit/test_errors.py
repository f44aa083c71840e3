"""One tree of errors, in one file and on one page."""

import re
from pathlib import Path

from support.tools import loaded_tool

SRC = Path(__file__).parents[2] / "src" / "sottovoce"
_ERROR_CLASS = re.compile(r"^ *class \w+(?:Error|Warning)\b", re.MULTILINE)


def test_errors_are_defined_in_one_file() -> None:
    assert [path for path in SRC.rglob("*.py") if _ERROR_CLASS.search(path.read_text("utf-8"))] == [
        SRC / "errors.py"
    ]


def test_the_page_of_errors_is_made_from_the_tree() -> None:
    tool = loaded_tool("errors_page")
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()

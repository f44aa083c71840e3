"""Write docs/reference/errors.md: every error and warning; a test compares."""

import inspect
from collections.abc import Iterator
from pathlib import Path

from sottovoce import errors

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "errors.md"
INTRODUCTION = """\
# Errors

All are in `sottovoce.errors`. A command that meets one prints its sentence and exits with code 2,
or 1 if a check did not hold (`CheckFailedError`). [Troubleshooting](../how-to/troubleshooting.md)
says what to do about each sentence.

"""


def lines_of(kind: type[BaseException], depth: int) -> Iterator[str]:
    """A line for an error, then its children's, further in."""
    meaning = (inspect.getdoc(kind) or "").partition("\n")[0]
    yield f"{'  ' * depth}- `{kind.__name__}`: {meaning}\n"
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from lines_of(child, depth + 1)


def page() -> str:
    """The text of the page."""
    roots = [
        each
        for each in vars(errors).values()
        if inspect.isclass(each)
        and issubclass(each, BaseException)
        and not issubclass(each.__mro__[1], errors.SottovoceError)
    ]
    return INTRODUCTION + "".join(line for root in roots for line in lines_of(root, 0))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Execute the example notebooks in place: python tools/notebooks.py [NAME ...]."""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def executed(path: Path) -> Any:  # noqa: ANN401 - nbformat has no types
    """The notebook at ``path`` with fresh output; an error in a cell is raised."""
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # has no types
    NotebookClient(book, timeout=600, kernel_name="python3", record_timing=False).execute()
    book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return book


def main(names: list[str]) -> None:
    """Execute the notebooks named, or all, and keep their output."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(executed(path), path)  # type: ignore[no-untyped-call] # has no types
            print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])

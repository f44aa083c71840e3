"""What is not imported before it is needed: help comes at once, and so does the package."""

import subprocess
import sys

SLOW = (
    "{'numba', 'numpy', 'pandas', 'pyarrow', 'scipy', 'sklearn', 'matplotlib', 'jinja2', "
    "'sottovoce.topics'}"
)


def printed(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.strip()


def test_the_commands_are_ready_without_any_library_of_numbers_or_pages() -> None:
    code = (
        "import sys, typer.main; from sottovoce.cli._app import app; typer.main.get_command(app); "
        f"print(sorted({SLOW} & set(sys.modules)))"
    )
    assert printed(code) == "[]"


def test_the_package_is_imported_with_its_door_alone() -> None:
    code = (
        "import sys; before = set(sys.modules); import sottovoce; new = set(sys.modules) - before; "
        "print(sorted(name for name in new if name.startswith('sottovoce') or name == 'typing'))"
    )
    assert printed(code) == "['sottovoce', 'sottovoce.lazy']"

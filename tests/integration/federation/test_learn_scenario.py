"""The scenario of section 3.1 runs as it is told."""

import os
import re
import subprocess
import sys
from pathlib import Path

from support.warm_commands import warm_command

PAGE = Path(__file__).parents[3] / "docs" / "tutorials" / "learn-scenario.md"
SOURCE = Path(__file__).parents[3] / "src"


def blocks() -> list[tuple[str, str]]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"```(sh|python|text)\n(.*?)```", text, re.DOTALL)


def script() -> str:
    """Everything that the page says to type, as one script that leaves nothing running."""
    parts = ["set -e", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for language, content in blocks():
        if language == "sh":
            parts.append(content)
        elif language == "python":
            parts.append(f'"$PYTHON" - <<"END"\n{content}END\n')
    return "\n".join(parts)


def with_our_command(folder: Path) -> dict[str, str]:
    """An environment in which `sottovoce` is the one in ``folder``."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(SOURCE), "PATH": path}


def test_alice_bob_and_cate_do_what_the_page_says(tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    with (
        warm_command(commands),
        (tmp_path / "out.txt").open("w+b") as out,
        (tmp_path / "err.txt").open("w+b") as err,
    ):
        done = subprocess.run(
            ["/bin/bash", "-c", script()],
            cwd=tmp_path,
            env=with_our_command(commands),
            stdout=out,
            stderr=err,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, (tmp_path / "err.txt").read_text()
    shown = (tmp_path / "out.txt").read_text()
    (told,) = [content for language, content in blocks() if language == "text"]
    assert told in shown
    assert "nobody can read alone" in " ".join(re.sub("[│┃]", " ", shown).split())
    assert "who learns what" in shown
    for party in ("coordinator", "alice", "bob"):
        assert not (tmp_path / "together" / party / "store" / "control.sock").exists()

"""The rank server's page: what it shows runs, and its table is what the law gives."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import httpx
import pytest
from support.help_examples import Run, address_in, kept_running, ran
from support.rank_crowds import predicted_error, rules_for
from support.rank_processes import TOPICS
from support.rank_servers import having_published
from support.shown_commands import DOCS, blocks_in, shown
from support.warm_commands import warm_command

RULES = "--measure bow-t --port 0"
GUIDE = DOCS / "how-to" / "rank-server.md"
PAGE = GUIDE.read_text(encoding="utf-8")


def test_its_commands_run_as_written(tmp_path: Path) -> None:
    (script,) = blocks_in(GUIDE, "sh")
    with warm_command(tmp_path) as command:
        done = subprocess.run(
            ["/bin/bash", "-ec", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "epsilon 1 for each new bucket" in done.stdout


def test_its_python_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with having_published(tmp_path / "others", Fraction(1)) as url:
        for example in blocks_in(GUIDE, "python"):
            code = example.replace("https://ranks.example", url)
            exec(compile(code, "rank-server.md", "exec"), names)  # noqa: S102 - our own page
    assert len(blocks_in(GUIDE, "python")) > 1


def test_its_servers_answer_until_they_are_stopped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair; then one with edges that another has published, and one from a copy of its store."""
    monkeypatch.chdir(tmp_path)
    Path("topics.toml").write_text(TOPICS, encoding="utf-8")
    key = next(line for line in PAGE.splitlines() if line.startswith("openssl"))
    subprocess.run(["/bin/bash", "-ec", key], check=True)
    second, first, edges, fitted, restored = shown("how-to/rank-server.md")
    with answering(second, {"--port 8766": "--port 0"}) as beside:
        named = {"https://second.example": beside, "first.sqlite": "first.sqlite --port 0"}
        with answering(first, named):
            pass
    with having_published(tmp_path / "others") as url:
        ran(run, edges, {"https://first.example": url})
    with answering(fitted, {"next.sqlite": f"first.copy {RULES}"}):
        pass
    with answering(restored, {"--restored": f"--restored --edges edges.json {RULES}"}):
        pass


@contextmanager
def answering(line: str, own: dict[str, str]) -> Iterator[str]:
    with kept_running(line, own) as told, httpx.Client(trust_env=False, timeout=60) as browser:
        address = address_in(told)
        assert browser.get(f"{address}/description").json()["topics"], line
        yield address


@pytest.mark.parametrize("people", [1_000, 10_000, 100_000])
def test_its_table_of_errors_is_what_the_law_gives(people: int) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {people:,} |"))
    printed = [float(cell) for cell in row.split("|")[2:-1]]
    cases = [("noise", "1/2"), ("noise", "1"), ("noise", "2"), ("noise", "4"), ("shares", "1")]
    for figure, (mode, epsilon) in zip(printed, cases, strict=True):
        rules = rules_for(mode, Fraction(epsilon), 20)  # type: ignore[arg-type] # one of two
        assert figure == pytest.approx(100 * predicted_error(rules, people) / people, rel=0.03)

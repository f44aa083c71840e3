"""Measure how the package is laid out: its files, their names, their imports, its front doors.

`python tools/house.py` prints a table, `--json` the same for machines, `--verbose` the names
behind the counts. `python tools/house.py paths` traces which files four everyday paths pass, and
`python tools/house.py times` how long the package takes to import. `--src` names the folder that
holds the package, so that two checkouts can be compared.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import house_paths

PACKAGE = "sottovoce"
SOURCE = Path(__file__).parents[1] / "src"
DOORS = ("", "assess", "release", "learn", "loop")
SHORT_LINES = 40
IMPORT_RUNS, HELP_RUNS = 15, 7
Functions = ast.FunctionDef | ast.AsyncFunctionDef
Facts = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """One file of the package."""

    name: str
    """Dotted, as it is imported."""
    path: Path
    is_package: bool

    @cached_property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> int:
        """How many it has."""
        return len(self.text.splitlines())

    @property
    def is_private(self) -> bool:
        """Whether it, or a package around it, is marked by an underscore."""
        return any(_private(part) for part in self.name.split("."))


def sources(folder: Path) -> list[Source]:
    """All files of the package under ``folder``."""
    return [_source(path, folder) for path in sorted((folder / PACKAGE).rglob("*.py"))]


def _source(path: Path, folder: Path) -> Source:
    parts = path.relative_to(folder).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Source(".".join(parts[:-1] if is_package else parts), path, is_package)


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def percentile(values: Iterable[int], percent: int) -> int:
    """The least value that ``percent`` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def imports(source: Source, known: set[str]) -> set[str]:
    """The files of the package that ``source`` imports, eagerly or not, by name."""
    return {name for name in _named(source) if name in known and name != source.name}


def _named(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(files: Sequence[Source]) -> dict[str, set[str]]:
    """Who imports each module; a package's own door counts like any other file."""
    known = {file.name for file in files}
    found: dict[str, set[str]] = {file.name: set() for file in files if not file.is_package}
    for file in files:
        for name in imports(file, known) & found.keys():
            found[name].add(file.name)
    return found


def repeated_files(modules: Sequence[Source]) -> dict[str, list[str]]:
    """File names that more than one folder has, such as ``terms``, without ``__main__``."""
    found = defaultdict(list)
    for module in modules:
        found[module.path.stem].append(module.name)
    return {name: held for name, held in found.items() if len(held) > 1 and name != "__main__"}


def repeated_names(
    files: Sequence[Source], kinds: tuple[type[ast.AST], ...]
) -> dict[str, list[str]]:
    """Public names that more than one file defines at its top level."""
    found = defaultdict(set)
    for file in files:
        for node in file.tree.body:
            if isinstance(node, kinds):
                found[str(getattr(node, "name", ""))].add(file.name)
    return {
        name: sorted(held)
        for name, held in sorted(found.items())
        if len(held) > 1 and not name.startswith("_")
    }


def function_lines(files: Sequence[Source]) -> list[int]:
    """The length of each function and method, without its decorators."""
    nodes = (node for file in files for node in ast.walk(file.tree))
    return [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes
        if isinstance(node, Functions)
    ]


def doors(folder: Path) -> dict[str, list[str]]:
    """What `dir` shows of each front door in a fresh process."""
    return {
        name: shown
        for door in DOORS
        if (shown := _door(folder, name := f"{PACKAGE}.{door}".rstrip("."))) is not None
    }


def _door(folder: Path, name: str) -> list[str] | None:
    command = (
        f"import importlib.util, json; spec = importlib.util.find_spec({name!r}); "
        f"print(json.dumps(dir(importlib.import_module({name!r})) if spec else None))"
    )
    shown = json.loads(_output(folder, "-c", command))
    return None if shown is None else [each for each in shown if not each.startswith("_")]


def _output(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, check=True, capture_output=True, text=True
    ).stdout


def sizes(folder: Path) -> Facts:
    """Everything that can be read off the files."""
    files = sources(folder)
    modules = [file for file in files if not file.is_package]
    lengths, functions = [file.lines for file in files], function_lines(files)
    by = importers(files)
    single = sorted(name for name, who in by.items() if len(who) == 1)
    short = sorted(module.name for module in modules if module.lines < SHORT_LINES)
    same_file = repeated_files(modules)
    return {
        "modules": len(modules),
        "files": len(files),
        "lines": sum(lengths),
        "file lines p50": percentile(lengths, 50),
        "file lines p95": percentile(lengths, 95),
        "file lines largest": max(lengths),
        "function lines p50": percentile(functions, 50),
        "function lines p95": percentile(functions, 95),
        "file names used more than once": same_file,
        "files that share their name": sum(map(len, same_file.values())),
        "public classes defined more than once": repeated_names(files, (ast.ClassDef,)),
        "public functions defined more than once": repeated_names(
            files, (ast.FunctionDef, ast.AsyncFunctionDef)
        ),
        "modules with one importer": single,
        f"modules under {SHORT_LINES} lines": short,
        "both": sorted({*single} & {*short}),
        "private modules": sorted(module.name for module in modules if module.is_private),
        **{f"dir({name})": shown for name, shown in doors(folder).items()},
    }


def times(folder: Path) -> Facts:
    """How long the package takes to import, and the command line to show its help."""
    bare, imported = [], []
    for _ in range(IMPORT_RUNS):
        bare.append(_seconds(folder, "-c", "pass"))
        imported.append(_seconds(folder, "-c", f"import {PACKAGE}"))
    shown = [_seconds(folder, "-m", f"{PACKAGE}.cli", "--help") for _ in range(HELP_RUNS)]
    return {
        f"import {PACKAGE}, ms above bare python": round(1000 * (median(imported) - median(bare))),
        f"{PACKAGE} --help, s": round(median(shown), 3),
    }


def _seconds(folder: Path, *arguments: str) -> float:
    start = time.perf_counter()
    _output(folder, *arguments)
    return time.perf_counter() - start


def table(facts: Facts, *, verbose: bool) -> Iterator[str]:
    """One line for each fact, and below it the names behind a count where asked for."""
    width = max(map(len, facts))
    for name, value in facts.items():
        counted = len(value) if isinstance(value, list | dict) else value
        yield f"{name:{width}}  {counted:>9,}"
        if verbose:
            yield from (f"    {line}" for line in _details(value))


def _details(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{name}: {', '.join(held)}" for name, held in value.items())
    elif isinstance(value, list):
        yield from map(str, value)


def main() -> None:
    """Measure what was asked for, and print it."""
    measures = {"sizes": sizes, "paths": house_paths.paths, "times": times}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="?", default="sizes", choices=[*measures, "all"])
    parser.add_argument("--src", type=Path, default=SOURCE, help="The folder of the package.")
    parser.add_argument("--json", action="store_true", help="Print JSON for machines.")
    parser.add_argument("--verbose", action="store_true", help="Name what is counted.")
    given = parser.parse_args()
    chosen = measures if given.what == "all" else [given.what]
    facts: Facts = {}
    for each in chosen:
        facts |= measures[each](given.src.resolve())
    if given.json:
        print(json.dumps(facts, indent=1))
    else:
        print("\n".join(table(facts, verbose=given.verbose)))


if __name__ == "__main__":
    main()

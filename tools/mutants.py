"""Plant small faults one after the other, and see whether the tests notice.

    python tools/mutants.py draw 100 --seed 1 --out mutants.json
    python tools/mutants.py try mutants.json --coverage .coverage --costs costs.json --out caught

`draw` picks places of the verbs at random and one change for each. `try` applies each change to the
tree it stands in, runs the tests that pass over the changed line, the cheapest first, until one
fails, and takes the change back. Which tests pass over a line is in the coverage of a run with
`--cov-context=test`, what they cost in the file of a run with `--costs`. With `--first`, the tests
that caught a change earlier are tried before the others, so that two trees are soon compared.
"""

import argparse
import ast
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from coverage import CoverageData

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sottovoce"
ROOMS = (
    "assess",
    "release",
    "learn",
    "privacy",
    "federation",
    "corpus",
    "topics",
    "loop",
    "advisor",
)
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "+",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitXor: "|",
}
MOST_TESTS = 40
"""As many are tried for a change, the cheapest of those that pass over it."""
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Mutant:
    """One change of one piece of a line."""

    path: str
    line: int
    column: int
    before: str
    after: str


def main() -> None:
    """Draw changes, or try them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(required=True)
    draw = commands.add_parser("draw")
    draw.add_argument("number", type=int)
    draw.add_argument("--seed", type=int, default=0)
    draw.add_argument("--out", type=Path, required=True)
    draw.set_defaults(do=_draw)
    trial = commands.add_parser("try")
    trial.add_argument("mutants", type=Path)
    trial.add_argument("--coverage", type=Path, required=True)
    trial.add_argument("--costs", type=Path, required=True)
    trial.add_argument("--first", type=Path)
    trial.add_argument("--out", type=Path, required=True)
    trial.set_defaults(do=_try)
    options = parser.parse_args()
    options.do(options)


def _draw(options: argparse.Namespace) -> None:
    found = [
        mutant
        for room in ROOMS
        for path in sorted((SOURCE / room).rglob("*.py"))
        for mutant in _of(path)
    ]
    random.Random(options.seed).shuffle(found)  # noqa: S311 - a sample, no secret
    chosen = list(islice(filter(_parses, found), options.number))
    options.out.write_text(json.dumps([asdict(mutant) for mutant in chosen], indent=1))
    print(f"{len(chosen)} of {len(found):,} changes")


def _of(path: Path) -> Iterator[Mutant]:
    """All changes of a file that stay within one line."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        for start, end, after in _changes(node):
            if start[0] == end[0] and start[1] < end[1]:
                before = lines[start[0] - 1].encode()[start[1] : end[1]].decode()
                if before.strip() and before != after:
                    yield Mutant(str(path.relative_to(ROOT)), start[0], start[1], before, after)


def _parses(mutant: Mutant) -> bool:
    """Not so where brackets stand between an operator and its sides."""
    try:
        ast.parse(_changed((ROOT / mutant.path).read_bytes(), mutant))
    except SyntaxError:
        return False
    return True


Place = tuple[int, int]


def _changes(node: ast.AST) -> Iterator[tuple[Place, Place, str]]:
    """Where something may be written instead, and what."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        instead = f" {COMPARISONS[type(node.ops[0])]} "
        yield _end(node.left), _start(node.comparators[0]), instead
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield _end(node.left), _start(node.right), f" {ARITHMETIC[type(node.op)]} "
    elif isinstance(node, ast.BoolOp):
        instead = " or " if isinstance(node.op, ast.And) else " and "
        yield _end(node.values[0]), _start(node.values[1]), instead
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _start(node), _start(node.operand), ""
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield _start(node), _end(node), str(node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield _start(node), _end(node), str(not node.value)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield _start(node.value), _end(node.value), "None"


def _start(node: ast.expr) -> Place:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> Place:
    return node.end_lineno or 0, node.end_col_offset or 0


def _try(options: argparse.Namespace) -> None:
    mutants = [Mutant(**each) for each in json.loads(options.mutants.read_text())]
    costs = json.loads(options.costs.read_text())["tests"]
    first = json.loads(options.first.read_text()) if options.first else [None] * len(mutants)
    passing = _Passing(options.coverage)
    caught: list[str | None] = []
    for mutant, earlier in zip(mutants, first, strict=True):
        tests = sorted(passing.tests(mutant) & costs.keys(), key=lambda test: costs[test][0])
        again = [earlier] if earlier in costs else []
        others = [test for test in tests if test != earlier][:MOST_TESTS]
        caught.append((again and _caught(mutant, again)) or _caught(mutant, others))
        print(
            f"{mutant.path}:{mutant.line} {mutant.before!r} -> {mutant.after!r}: {caught[-1]}",
            flush=True,
        )
        options.out.write_text(json.dumps(caught, indent=1))
    print(f"{sum(test is not None for test in caught)} of {len(mutants)} caught")


class _Passing:
    """Which tests pass over a line."""

    def __init__(self, coverage: Path) -> None:
        self._data = CoverageData(str(coverage))
        self._data.read()
        self._files = {_tail(name): name for name in self._data.measured_files()}

    def tests(self, mutant: Mutant) -> set[str]:
        name = self._files.get(_tail(mutant.path))
        if name is None:
            return set()
        contexts = self._data.contexts_by_lineno(name)
        return {context.split("|")[0] for context in contexts.get(mutant.line, []) if context}


def _tail(path: str) -> str:
    return path.rsplit("src/sottovoce/", maxsplit=1)[-1]


def _caught(mutant: Mutant, tests: Sequence[str]) -> str | None:
    """The test that fails with the change, if any does."""
    if not tests:
        return None
    path = ROOT / mutant.path
    original = path.read_bytes()
    try:
        path.write_bytes(_changed(original, mutant))
        return _failing(tests)
    finally:
        path.write_bytes(original)


def _changed(original: bytes, mutant: Mutant) -> bytes:
    lines = original.splitlines(keepends=True)
    line, before = lines[mutant.line - 1], mutant.before.encode()
    end = mutant.column + len(before)
    if line[mutant.column : end] != before:
        sys.exit(f"{mutant.path}:{mutant.line} is not as it was when the changes were drawn")
    lines[mutant.line - 1] = line[: mutant.column] + mutant.after.encode() + line[end:]
    return b"".join(lines)


def _failing(tests: Sequence[str]) -> str | None:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, "--no-cov", "--tb=no", *tests],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode == 0:
        return None
    if "ERROR: not found: " in done.stderr:
        sys.exit(f"these tests are not all here: {done.stderr.strip()[-400:]}")
    failed = [
        line.partition(" ")[2].partition(" - ")[0]
        for line in done.stdout.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    ]
    return failed[0] if failed else "it cannot be imported"


if __name__ == "__main__":
    main()

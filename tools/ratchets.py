"""Measure what the tree may only lose: lines, files, long functions, odd names, imports past doors.

`python tools/ratchets.py` prints the figures beside the limits in `tests/ratchets.toml`, and
`python tools/ratchets.py walks` also how many files each of five everyday walks passes;
`lower` writes each figure that fell as the new limit. A limit that must rise is raised by hand,
with its reason in a comment beside it.
"""

import argparse
import ast
import io
import re
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import walks

ROOT = Path(__file__).parents[1]
LIMITS = ROOT / "tests" / "ratchets.toml"
SOURCES = ("src", "sottovoce-lab/src", "sottovoce-spark/src")
LONG_LINES = 60
_DEEPEST = 3  # package, its own package, file
_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        """
    begun bent bought broken brought built caught chosen dealt done drawn felt forgotten
    found given gone grown heard held hidden kept known laid led left lent lost made meant
    met paid said sealed seen sent shown sold sought spent stood sworn taken taught thought
    thrown told torn understood won written
""",
    )
)
_PARTICLES = frozenset(
    re.findall(
        r"\w+",
        """
    above after again ahead alike alone among apart as aside at back before below beside
    between beyond both by for from in into like of off on once only out over since than
    through to together under until up upon with within without
""",
    )
)
_NOT_PARTICIPLES = frozenset(
    ["embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"]
)
_WORDS_OF_A_CLAUSE = frozenset(
    ["are", "has", "have", "is", "no", "not", "that", "they", "was", "were", "which", "who"]
)

Functions = ast.FunctionDef | ast.AsyncFunctionDef


def count_code_lines(text: str) -> int:
    r"""Lines of Python that are no blank, comment or docstring.

    >>> count_code_lines('"Say."\\n\\n# why\\nx = (\\n    1\\n)\\n')
    3
    """
    quiet: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            quiet.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - quiet)


def is_odd_name(name: str) -> bool:
    """Whether a function's name is a bare participle or particle, or a clause, not a verb.

    >>> [is_odd_name(name) for name in ("told", "_of", "as_they_stand", "read_card", "is_public")]
    [True, True, True, False, False]
    """
    words = name.strip("_").split("_")
    if len(words) == 1:
        return _is_participle(words[0]) or words[0] in _PARTICLES
    inner = words[1:] if words[0] in {"is", "has", "are", "was", "have"} else words
    return bool(_WORDS_OF_A_CLAUSE.intersection(inner))


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and word not in _NOT_PARTICIPLES)


def passes_a_door(importer: str, imported: str) -> bool:
    """Whether a module imports what is private to a package that it is not in.

    >>> passes_a_door("shop.till.coins", "shop.till._drawer")
    False
    >>> passes_a_door("shop.front", "shop.till._drawer.lock")
    True
    """
    parts = imported.split(".")
    for at, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            owner = ".".join(parts[:at])
            return not f"{importer}.".startswith(f"{owner}.")
    return False


def measure(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """Every figure, by the table and name it has in the file of limits."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    odd: Counter[str] = Counter()
    past, public, lengths = 0, 0, []
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            tree = ast.parse(text := path.read_text(encoding="utf-8"))
            package = _package(parts := path.relative_to(root / folder).parts)
            lines[package] += count_code_lines(text)
            files[parts[0]] += 1
            odd[parts[0]] += sum(is_odd_name(node.name) for node in _functions(tree))
            lengths += [(node.end_lineno or 0) - node.lineno + 1 for node in _functions(tree)]
            past += _imports_past_doors(tree, parts)
            if parts[0] == "sottovoce" and parts[-1] == "__init__.py" and len(parts) <= _DEEPEST:
                public += len(find_public_names(tree))
    lines["tests"] = sum(
        count_code_lines(path.read_text(encoding="utf-8"))
        for path in (root / "tests").rglob("*.py")
    )
    return {
        "code_lines": dict(sorted(lines.items())),
        "files": dict(sorted(files.items())),
        "odd_names": dict(sorted(odd.items())),
        "imports": {"past_doors": past},
        "public_names": {"sottovoce": public},
        "functions": {
            "longest": max(lengths),
            "over_60_lines": sum(length > LONG_LINES for length in lengths),
        },
    }


def find_public_names(tree: ast.Module) -> set[str]:
    r"""What a door offers: its ``__all__``, or what it imports under its own name.

    >>> find_public_names(ast.parse("if TYPE_CHECKING:\\n    from till import Coin as Coin"))
    {'Coin'}
    """
    listed = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    named = {each.name for node in nodes for each in node.names if each.asname == each.name}
    return named.union(*map(ast.literal_eval, listed))


def _package(parts: Sequence[str]) -> str:
    return ".".join(parts[:2]) if parts[0] == "sottovoce" and len(parts) > 2 else parts[0]  # noqa: PLR2004 - package, folder, file


def _functions(tree: ast.Module) -> Iterator[Functions]:
    return (node for node in ast.walk(tree) if isinstance(node, Functions))


def _imports_past_doors(tree: ast.Module, parts: Sequence[str]) -> int:
    importer = ".".join(parts).removesuffix(".py").removesuffix(".__init__")
    ours = (name for name in _imported(tree) if name.startswith("sottovoce"))
    return sum(passes_a_door(importer, name) for name in ours)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            hidden = [alias.name for alias in node.names if alias.name.startswith("_")]
            yield f"{node.module}.{hidden[0]}" if hidden else node.module


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


def find_sources(folder: Path) -> list[Source]:
    """All files of the packages under ``folder``."""
    return [_source(path, folder) for path in sorted(folder.rglob("*.py"))]


def _source(path: Path, folder: Path) -> Source:
    parts = path.relative_to(folder).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Source(".".join(parts[:-1] if is_package else parts), path, is_package)


def find_imports(source: Source, known: set[str]) -> set[str]:
    """The files of the package that ``source`` imports, eagerly or not, by name."""
    return {name for name in _import_names(source) if name in known and name != source.name}


def _import_names(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def find_importers(files: Sequence[Source]) -> dict[str, set[str]]:
    """Who imports each module; a package's own door counts like any other file."""
    known = {file.name for file in files}
    found: dict[str, set[str]] = {file.name: set() for file in files if not file.is_package}
    for file in files:
        for name in find_imports(file, known) & found.keys():
            found[name].add(file.name)
    return found


def find_repeated_names(
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


def read_limits(path: Path = LIMITS) -> dict[str, dict[str, int]]:
    """The file of limits, by table and name."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def lower_limits(path: Path = LIMITS) -> None:
    """Write each figure that fell below its limit, and keep the file's comments."""
    found, text = measure(), path.read_text(encoding="utf-8")
    for table, limits in read_limits(path).items():
        for name, limit in limits.items():
            if (now := found.get(table, {}).get(name, 0)) < limit:
                head, mark, rest = text.partition(f"[{table}]")
                line = re.compile(rf'^("?{re.escape(name)}"? = ){limit}\b', re.MULTILINE)
                text = head + mark + line.sub(rf"\g<1>{now}", rest, count=1)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Print the figures, with the walks where asked for, or lower the limits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="?", default="show", choices=["show", "walks", "lower"])
    what = parser.parse_args().what
    if what == "lower":
        lower_limits()
    limits = read_limits() if LIMITS.is_file() else {}
    figures = measure()
    if what == "walks":
        traced = walks.trace_walks(ROOT / "src")
        figures["walks"] = {name: len(walk.files) for name, walk in traced.items()}
    for table, found in figures.items():
        print(f"[{table}]")
        for name, value in found.items():
            print(f"{name:28} {value:>8,}  {limits.get(table, {}).get(name, '-'):>8}")


if __name__ == "__main__":
    main()

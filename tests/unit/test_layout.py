"""The tree stays one that a stranger finds the way in."""

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import ratchets  # noqa: E402 - a script of ours, found by the line above

FILES = ratchets.find_sources(ROOT / "src")
MODULES = [file for file in FILES if not file.is_package]
LARGEST = 400
SHORT = 40
IMPORT = re.compile(r"^from ([\w.]+) import", re.MULTILINE)
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)

# Short, with one importer, and still files of their own.
APART = {"sottovoce._version": "reading the metadata takes longer than the rest of the import"}
# A measure is one file, and so is a format, however short.
ONE_FILE_EACH = ("sottovoce.assess.measures.", "sottovoce.corpus.read._")

# Where every module is a command, or a study or bench.
OPEN_ROOMS = ("sottovoce.cli", "sottovoce_lab")


def test_no_public_class_is_defined_twice() -> None:
    lines = Counter(line for file in FILES for line in set(CLASS.findall(file.text)))
    assert len(lines) > 500
    # Only what its text says twice is worth reading as Python.
    doubted = {line for line, times in lines.items() if times > 1}
    files = [file for file in FILES if doubted.intersection(CLASS.findall(file.text))]
    assert ratchets.find_repeated_names(files, (ast.ClassDef,)) == {}


def test_a_short_module_with_one_importer_is_part_of_it() -> None:
    short = {module.name for module in MODULES if module.lines < SHORT}
    plain = Counter(name for file in FILES for name in set(IMPORT.findall(file.text)))
    # What two files import by its whole name is settled; who else does has its last part in there.
    doubted = [name.rpartition(".")[2] for name in short if plain[name] < 2]
    named = re.compile(rf"\b({'|'.join(doubted)})\b")
    by = ratchets.find_importers(
        [file for file in FILES if file.name in short or named.search(file.text)]
    )
    single = {name for name in short if plain[name] < 2 and len(by[name]) == 1}
    assert {name for name in single if not name.startswith(ONE_FILE_EACH)} == set(APART)


def test_no_figure_rises_above_its_limit() -> None:
    """`python tools/ratchets.py lower` writes what fell; a rise needs its reason in the file."""
    limits, found = ratchets.read_limits(), ratchets.measure(ROOT)
    above = {
        f"{table}.{name}": (value, limits[table].get(name, 0))
        for table, figures in found.items()
        for name, value in figures.items()
        if value > limits[table].get(name, 0)
    }
    assert above == {}


def test_a_file_is_no_longer_than_one_idea_and_its_first_line_says_which() -> None:
    assert [file.name for file in FILES if file.lines > LARGEST] == []
    assert [file.name for file in FILES if not _says_what_it_is(file)] == []


def _says_what_it_is(file: ratchets.Source) -> bool:
    before, _, told = file.text.partition('"""')
    first = told.partition('"""')[0].strip().partition("\n")[0]
    return before in {"", "r"} and first.endswith((".", ":", "?"))


def test_a_folder_groups_a_family_and_not_a_prefix() -> None:
    families = defaultdict(set)
    for module in MODULES:
        folder, _, name = module.name.rpartition(".")
        if not folder.startswith(OPEN_ROOMS):
            families[folder, name.strip("_").partition("_")[0]].add(name)
    assert {prefix: names for prefix, names in families.items() if len(names) > 2} == {}
    folders = [part for file in FILES for part in file.path.relative_to(ROOT).parts[:-1]]
    assert not [folder for folder in folders if re.search(r"_parts$", folder)]

"""What the tool that measures the package's layout counts, on a made-up package."""

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.tools import loaded_tool

FILES = {
    "__init__.py": "from sottovoce.shop import Shop\n",
    "shop.py": (
        "from sottovoce._till import Till\n\n\nclass Shop:\n    def open(self):\n"
        "        from sottovoce.back import store\n\n        return store\n"
    ),
    "_till.py": "class Till:\n    pass\n\n\nclass _Coin:\n    pass\n",
    "back/__init__.py": "",
    "back/store.py": "import sottovoce.shop\n\n\nclass Till: ...\n\n\nclass _Coin: ...\n",
    "back/_till.py": "def count(\n    a,\n    b,\n):\n    return a + b\n",
}


@pytest.fixture(scope="module")
def house() -> ModuleType:
    loaded_tool("house_paths")
    return loaded_tool("house")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "sottovoce" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_files_are_named_as_they_are_imported(house: ModuleType, package: Path) -> None:
    found = {file.name: (file.is_package, file.is_private) for file in house.sources(package)}
    assert found == {
        "sottovoce": (True, False),
        "sottovoce.shop": (False, False),
        "sottovoce._till": (False, True),
        "sottovoce.back": (True, False),
        "sottovoce.back.store": (False, False),
        "sottovoce.back._till": (False, True),
    }


def test_importers_count_doors_and_lazy_imports(house: ModuleType, package: Path) -> None:
    assert house.importers(house.sources(package)) == {
        "sottovoce.shop": {"sottovoce", "sottovoce.back.store"},
        "sottovoce._till": {"sottovoce.shop"},
        "sottovoce.back.store": {"sottovoce.shop"},
        "sottovoce.back._till": set(),
    }


def test_public_names_defined_in_two_files_are_found(house: ModuleType, package: Path) -> None:
    found = house.repeated_names(house.sources(package), (ast.ClassDef,))
    assert found == {"Till": ["sottovoce._till", "sottovoce.back.store"]}


def test_file_names_of_two_folders_are_found(house: ModuleType, package: Path) -> None:
    modules = [file for file in house.sources(package) if not file.is_package]
    assert house.repeated_files(modules) == {"_till": ["sottovoce._till", "sottovoce.back._till"]}


def test_a_function_is_as_long_as_it_is_written(house: ModuleType, package: Path) -> None:
    assert sorted(house.function_lines(house.sources(package))) == [4, 5]


@pytest.mark.parametrize(
    ("percent", "least"), [(0, 1), (25, 1), (26, 2), (50, 2), (95, 9), (100, 9)]
)
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(
    house: ModuleType, percent: int, least: int
) -> None:
    assert house.percentile([9, 1, 2, 3], percent) == least


def test_the_table_counts_and_names_what_is_counted(house: ModuleType) -> None:
    facts = {"modules": 1200, "both": ["one", "two"], "twice": {"Till": ["a", "b"]}}
    assert list(house.table(facts, verbose=False)) == [
        "modules      1,200",
        "both             2",
        "twice            1",
    ]
    assert list(house.table(facts, verbose=True))[2:4] == ["    one", "    two"]


def test_a_trace_has_the_files_that_are_called_and_not_those_that_are_imported(
    tmp_path: Path,
) -> None:
    (tmp_path / "called.py").write_text("def call():\n    return 1\n", encoding="utf-8")
    (tmp_path / "idle.py").write_text("def made():\n    return 1\n\n\nONE = made()\n")
    sys.path.insert(0, str(tmp_path))
    trace = loaded_tool("house_trace").Trace(tmp_path)
    before = sys.getprofile()
    try:
        trace.start()
        importlib.import_module("idle")
        importlib.import_module("called").call()
    finally:
        trace.stop()
        sys.setprofile(before)
        sys.path.remove(str(tmp_path))
    assert trace.files == {"called.py"}

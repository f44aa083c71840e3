"""What the tool that measures the package's layout counts, on a made-up package."""

import ast
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
def ratchets() -> ModuleType:
    loaded_tool("walks")
    return loaded_tool("ratchets")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "sottovoce" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_importers_count_doors_and_lazy_imports(ratchets: ModuleType, package: Path) -> None:
    assert ratchets.find_importers(ratchets.find_sources(package)) == {
        "sottovoce.shop": {"sottovoce", "sottovoce.back.store"},
        "sottovoce._till": {"sottovoce.shop"},
        "sottovoce.back.store": {"sottovoce.shop"},
        "sottovoce.back._till": set(),
    }


def test_public_names_defined_in_two_files_are_found(ratchets: ModuleType, package: Path) -> None:
    found = ratchets.find_repeated_names(ratchets.find_sources(package), (ast.ClassDef,))
    assert found == {"Till": ["sottovoce._till", "sottovoce.back.store"]}


def test_each_figure_is_counted(ratchets: ModuleType, package: Path) -> None:
    (package / "src").mkdir()
    (package / "sottovoce").rename(package / "src" / "sottovoce")
    (package / "src" / "sottovoce" / "front.py").write_text(
        "from sottovoce.back._till import count\n\n\ndef told() -> None:\n    count(1, 2, 3)\n"
    )
    found = ratchets.measure(package)
    assert found["imports"] == {"past_doors": 1}
    assert found["odd_names"] == {"sottovoce": 1}
    assert found["files"] == {"sottovoce": 7}
    assert found["functions"] == {"longest": 5, "over_60_lines": 0}
    assert found["code_lines"] == {"sottovoce": 13, "sottovoce.back": 8, "tests": 0}


def test_only_what_fell_is_lowered(
    ratchets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ratchets.toml"
    path.write_text('[files]\n# why\nfell = 9\n"ro.se" = 3\n', encoding="utf-8")
    monkeypatch.setattr(ratchets, "measure", lambda: {"files": {"fell": 7, "ro.se": 5}})
    ratchets.lower_limits(path)
    assert path.read_text() == '[files]\n# why\nfell = 7\n"ro.se" = 3\n'

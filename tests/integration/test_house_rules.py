"""Rules that keep the tree as it should be."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.costs import COLLECTED

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "lint-imports"), "--config", str(folder / "pyproject.toml"), "--no-cache"]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


PLANTED = {
    "against the layers": (
        "corpus/schema.py",
        "sottovoce.release",
        "sottovoce.corpus is not allowed to import sottovoce.release",
    ),
    "in a circle": (
        "corpus/vocabulary.py",
        "sottovoce.corpus.counts",
        "No cycles are allowed in sottovoce.corpus",
    ),
    "of the kernels of noise": (
        "release/plan.py",
        "sottovoce.privacy._noise_kernels",
        "Illegal imports of protected package sottovoce.privacy._noise_kernels",
    ),
}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_follow_the_contracts(copied: Path) -> None:
    assert lint_imports(copied).returncode == 0


@pytest.mark.parametrize("planted", PLANTED)
def test_an_import_against_a_contract_is_caught(planted: str, copied: Path) -> None:
    file, imported, sentence = PLANTED[planted]
    with (copied / "src" / "sottovoce" / file).open("a") as source:
        source.write(f"import {imported}\n")
    broken = lint_imports(copied)
    assert broken.returncode == 1
    assert sentence in " ".join(broken.stdout.split())


def test_the_number_of_tests_does_not_fall_below_the_recorded_floor(
    pytestconfig: pytest.Config,
) -> None:
    if not collected_all(pytestconfig):
        pytest.skip("only some of the tests were asked for")
    collected = pytestconfig.stash[COLLECTED]
    floor = int((ROOT / "tests" / "floor.txt").read_text())
    assert collected >= floor
    assert collected < 1.25 * floor, f"raise tests/floor.txt: there are {collected} tests now"


def collected_all(config: pytest.Config) -> bool:
    """Whether this run began with every test, before those of a mark were left out."""
    named = {(ROOT / name).resolve() for name in config.args}
    return named == {ROOT / "tests"} and not config.getoption("keyword")


def test_every_requirement_is_pinned_with_hashes_and_names_no_registry() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    extras = project["project"]["optional-dependencies"]
    apart = ["postgres", "spark"]  # not in `all`, so only where they are tested

    def own(needs: list[str]) -> list[str]:
        return [need for need in needs if "sottovoce" not in need]

    wanted = {
        "run.txt": [
            *project["project"]["dependencies"],
            *groups["editable"],
            *(need for name in extras if name not in apart for need in own(extras[name])),
        ],
        "dev.txt": [
            *(groups["test"] + groups["gates"] + groups["docs"] + groups["build"]),
            *(need for name in apart for need in own(extras[name])),
        ],
        "peers.txt": groups["peers"],
    }
    for name, requirements in wanted.items():
        text = (ROOT / "constraints" / name).read_text()
        assert "://" not in text
        pinned = set(
            re.findall(r"^([a-z0-9-]+)(?:\[.+\])?==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)
        )
        assert len(pinned) == text.count("==")
        for requirement in requirements:
            assert re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() in pinned  # type: ignore[index] # else it fails


def test_what_is_asked_for_with_extras_is_pinned_with_them() -> None:
    """Else the environment cannot be made again from the day a newer version is out."""
    text = (ROOT / "constraints" / "dev.txt").read_text()
    pinned = {
        found[1]: set(found[2].split(","))
        for found in re.finditer(r"^([a-z0-9-]+)\[(.+)\]==", text, re.MULTILINE)
    }
    asked = [
        need
        for each in distributions()
        for need in map(Requirement, each.requires or ())
        if need.extras
        and not need.name.startswith("sottovoce")
        and (need.marker is None or need.marker.evaluate({"extra": ""}))
    ]
    assert asked
    assert [str(need) for need in asked if not need.extras <= pinned.get(need.name, set())] == []


def test_every_silenced_check_says_why() -> None:
    silent = re.compile(r"#\s*(noqa|type: ignore|pragma)(: ?[A-Z0-9, ]+|\[[a-z-]+\])?\s*$")
    files = [
        path for part in ("src", "tests", "tools", "docs") for path in (ROOT / part).rglob("*.py")
    ]
    assert len(files) > 50
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if silent.search(line)
    ]
    assert found == []

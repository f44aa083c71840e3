"""Rules that keep the tree as it should be."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "lint-imports"), "--config", str(folder / "pyproject.toml"), "--no-cache"]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_imports_point_one_way_and_an_import_against_it_is_caught(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert lint_imports(tmp_path).returncode == 0
    with (tmp_path / "src/sottovoce/corpus/_schema.py").open("a") as schema:
        schema.write("import sottovoce.release\n")
    broken = lint_imports(tmp_path)
    assert broken.returncode == 1
    assert "sottovoce.corpus is not allowed to import sottovoce.release" in broken.stdout


def test_the_number_of_tests_does_not_fall_below_the_recorded_floor() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    collected = int(re.search(r"(\d+) tests collected", done.stdout)[1])  # type: ignore[index] # else it fails
    floor = int((ROOT / "tests" / "floor.txt").read_text())
    assert collected >= floor
    assert collected < 1.25 * floor, f"raise tests/floor.txt: there are {collected} tests now"


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
        pinned = set(re.findall(r"^([a-z0-9-]+)==\S+ \\\n    --hash=sha256:", text, re.MULTILINE))
        assert len(pinned) == text.count("==")
        for requirement in requirements:
            assert re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() in pinned  # type: ignore[index] # else it fails


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

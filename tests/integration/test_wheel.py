"""A wheel builds, installs, and the base install is light."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What only extras bring, or nobody: the base install must work without.
NOT_IN_BASE = ("jinja2", "markupsafe", "matplotlib", "polars", "sklearn")
BASE_RUN = f"""
import sys
for name in {NOT_IN_BASE!r}:
    sys.modules[name] = None
sys.argv = ["sottovoce", *sys.argv[1:]]
from sottovoce.cli import main
main()
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "sottovoce/py.typed" in names
    assert "sottovoce/report/templates/report.html" in names
    assert any(name.startswith("sottovoce/corpus/simulate/words/") for name in names)
    assert not any("tests/" in name or "/test_" in name for name in names)


def test_the_installed_wheel_works_without_what_extras_bring(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
    ]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True, capture_output=True)
    base = [sys.executable, "-c", BASE_RUN]
    # What is imported is the question, not what a compiler makes of it.
    environment = {"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin", "NUMBA_DISABLE_JIT": "1"}
    for arguments in (
        ["simulate", "c", "--users", "60", "--weeks", "2"],
        ["count", "c/posts.parquet", "--out", "counts"],
        ["describe", "c/posts.parquet"],
    ):
        done = subprocess.run(
            [*base, *arguments], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr

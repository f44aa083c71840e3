"""Where outputs cannot go is said before anything is read, and what is no folder is called so."""

from pathlib import Path

import pytest
from support.shown import Run


@pytest.mark.parametrize("option", ["--report", "--out", "--state"])
def test_a_folder_that_is_not_there_is_said_before_the_file_is_read(
    run: Run, tmp_path: Path, option: str
) -> None:
    ending = {"--report": ".html", "--out": ".csv", "--state": ""}[option]
    code, _, err = run("assess", tmp_path / "missing.csv", option, tmp_path / f"no/x{ending}")
    assert code == 2
    assert f"there is no folder {tmp_path / 'no'}; create it first." in err


@pytest.mark.parametrize("command", [("analyse",), ("audit", "--release")])
def test_a_release_that_is_not_there_is_said_not_to_be(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    code, _, err = run(*command, tmp_path / "nowhere")
    assert code == 2
    assert "nowhere does not exist" in err
    assert "give the folder of a release." in err
    (tmp_path / "file").write_text("text")
    assert "is a file, not a folder" in run(*command, tmp_path / "file")[2]

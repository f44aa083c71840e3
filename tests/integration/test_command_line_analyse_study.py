"""``sottovoce study release-analyse`` part by part, as its users meet it."""

import json
from pathlib import Path

import pytest
from sottovoce_lab.release.analyse_rows import NAMES
from support.shown import Run

PART = ("--quick", "--data", "simulated", "--readers", "topics", "--rates", "2")


def test_a_part_that_is_done_is_read_from_the_folder_of_the_study(
    run_study: Run, tmp_path: Path
) -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
    out = tmp_path / "out"
    asked = ("release-analyse", *PART, "--out", out, "--json", "--seeds")
    code, first, _ = run_study(*asked, 1)
    assert code == 0
    (kept,) = (out / "parts").glob("*.json")
    content = json.loads(kept.read_text())
    content["values"]["jaccard"]["chosen"] = 0.125
    kept.write_text(json.dumps(content))
    code, second, _ = run_study(*asked, 2)
    assert code == 0
    (before,), (after,) = (
        [row for row in json.loads(rows) if is_score(row)] for rows in (first, second)
    )
    assert tuple(before) == NAMES
    assert before["seeds"] == 1
    assert after["values"][0] == 0.125
    assert len(list((out / "parts").glob("*.json"))) == 2
    assert json.loads((out / "rows.json").read_text()) == json.loads(second)


def is_score(row: dict[str, object]) -> bool:
    return (row["reader"], row["score"]) == ("chosen", "jaccard")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--readers", "people"), "readers must be one of topics, classifiers, sums"),
        (("--data", "novels"), "data must be one of complaints"),
        (("--rates", "0"), "rates must be > 0"),
    ],
)
def test_a_part_that_nobody_knows_is_refused(
    run_study: Run, options: tuple[str, ...], told: str
) -> None:
    code, _, err = run_study("release-analyse", "--quick", *options)
    assert (code, told in err) == (2, True)

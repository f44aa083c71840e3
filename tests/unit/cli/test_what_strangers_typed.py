"""What a stranger typed who brought files of their own: options that are there, and the way out."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sottovoce.cli._output import show_facts
from sottovoce.cli.assess import StateOptions
from sottovoce.cli.audit import _is_about_the_folder, _show, in_short
from sottovoce.cli.explain import _describe_places
from sottovoce.errors import CheckFailedError, InputError, ParameterError
from sottovoce.learn import audit_training
from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.privacy.audit.lines import Published, audit_lines
from sottovoce.release.audit import audit_presence

FOLDER = Finding("noise in every row", True, "seen")
SAMPLER = Finding("noise in every row (as released)", True, "seen")
TABLE = Finding("table of geometric draws at rate 1", True, "seen")


def test_an_assessment_of_nothing_asks_for_posts() -> None:
    with pytest.raises(ParameterError, match="give POSTS"):
        StateOptions().choose_file(None, None)


def test_a_range_is_rounded_like_any_number(capsys: pytest.CaptureFixture[str]) -> None:
    show_facts("about", {"accuracy range": (0.6097983205788239, 0.8)})
    assert "0.6098 to 0.8" in capsys.readouterr().out


def test_who_shares_a_score_is_told_all_places_it_may_get() -> None:
    assert _describe_places(7, 23) == "between 7 and 29: 23 users have this score"
    assert _describe_places(7, 1) == 7
    assert _describe_places(None, 0) is None


def test_an_audit_ends_with_what_its_rows_come_to() -> None:
    said = in_short(AuditReport((FOLDER, SAMPLER, TABLE)), of_folder=True)
    assert said.startswith("3 checks refuted nothing. 1 of them looked at the counts in")
    assert "the other 2 tried this installation's sampler" in said
    assert "no proof" in said
    failed = Finding("fresh noise", False, "seen")
    said = in_short(AuditReport((failed, TABLE)), of_folder=False)
    assert said.startswith("1 of 2 checks failed: fresh noise.")
    assert "folder" not in said


def test_what_failed_is_counted_among_checks_alone_and_may_be_of_other_texts() -> None:
    failed, figure = (
        Finding("fresh noise", False, "seen"),
        Finding("a row", True, "", is_figure=True),
    )
    report = AuditReport((figure, failed, TABLE))
    said = "1 of 2 checks contradict it; do not publish under it"
    with pytest.raises(CheckFailedError, match=f"{said}, unless it was made from other texts"):
        _show(report, as_json=False, of_folder=True, texts=True)
    with pytest.raises(CheckFailedError, match=rf"{said}\.$"):
        _show(report, as_json=False, of_folder=True, texts=False)


def test_every_check_of_published_counts_is_counted_as_one_of_the_folder() -> None:
    counts = sparse.csr_array(np.ones((9, 8), np.int64))
    seen = audit_presence(counts, Fraction(1)).findings
    found = [*seen, *audit_lines(Published(counts, Fraction(1)))]
    assert all(map(_is_about_the_folder, found))
    assert not any(_is_about_the_folder(each.name_way("as released")) for each in found)
    assert not _is_about_the_folder(TABLE)


def test_an_audit_of_texts_without_labels_names_its_own_option(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("text\n" + "slept badly\n" * 20)
    with pytest.raises(InputError, match="--label of learn audit"):
        audit_training(tmp_path / "notes.csv")

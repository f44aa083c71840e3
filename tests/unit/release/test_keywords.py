"""Checkers of types and people see the keywords of a release, and what a call gives."""

import inspect
from pathlib import Path
from typing import assert_type

import pytest

import sottovoce as sv
from sottovoce.release.job import ReleaseRequest
from sottovoce.release.quote import ReleaseQuote
from sottovoce.release.release import Release


def test_checkers_know_what_a_call_gives_and_which_keywords_it_takes(tmp_path: Path) -> None:
    """Where mypy no longer refuses a false call, the comment that excuses it is an error itself."""
    ledger = tmp_path / "ledger"
    made = sv.release_counts(["debt"], words=["debt"], epsilon=2, precision=2, ledger=ledger)
    assert_type(made, Release)
    quoted = sv.release_counts(
        ["debt"], words=["debt"], epsilon=2, precision=2, ledger=ledger, dry_run=True
    )
    assert_type(quoted, ReleaseQuote)
    assert (type(made), type(quoted)) == (Release, ReleaseQuote)
    with pytest.raises(TypeError, match="precisoin"):
        sv.release_counts(["debt"], epsilon=2, precisoin=2)  # type: ignore[call-overload] # misspelt
    with pytest.raises(sv.errors.ParameterError, match="precision must be"):
        sv.release_counts(["debt"], epsilon=2, precision="2.5")  # type: ignore[call-overload] # no number


def test_help_shows_the_keywords_of_a_request() -> None:
    assert inspect.signature(sv.release_counts) == inspect.signature(ReleaseRequest)

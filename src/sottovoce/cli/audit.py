"""``sottovoce audit``."""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._options import ReadingOptions, needs_extra
from sottovoce.cli._output import AsJson, progress, show_json, show_rows
from sottovoce.errors import CheckFailedError, ParameterError

if TYPE_CHECKING:
    from sottovoce.privacy.audit.findings import AuditReport, Finding


DEFAULT_EPSILON, DEFAULT_PRECISION = "1", 2
# The experiment's work grows with the square of N, and any N tests the same rate.
LARGEST_PRECISION = 1000
WITH_TEXTS = "(given the texts)"
_WITHOUT_TEXTS = (
    "; without --texts it also cannot see, in a folder's counts, cells copied from the truth, "
    "noise that is missing at some true counts, too small, cut, one-sided or of another law, or "
    "noise that depends on the counts"
)


def audit(
    *,
    sampler: bool = False,
    control: str | None = None,
    release: Path | None = None,
    texts: Path | None = None,
    stop_words: str | None = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="The epsilon that the sampler claims, such as 0.1 or 1/3; default: "
            f"{DEFAULT_EPSILON}."
        ),
    ] = None,
    precision: Annotated[
        int | None,
        typer.Option(
            help=f"The N that the sampler claims, in words; default: {DEFAULT_PRECISION}."
        ),
    ] = None,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> None:
    """Try to refute a privacy claim: exit code 0 (no proof) when no check fails, else 1.

    Example: sottovoce audit --sampler --epsilon 1/2 --precision 4

    Args:
        sampler: Audit the noise itself; the default.
        control: Audit a release that is broken on purpose, and exit 1: paper-accounting,
            float-noise or reused-keystream.
        release: Audit a release's folder.
        texts: The texts that --release was made from, for their holder only.
        stop_words: The value that --release was made with.
    """
    if sum((sampler, control is not None, release is not None)) > 1:
        raise ParameterError("give only one of --sampler, --control and --release.")
    claimed = epsilon is not None or precision is not None
    if claimed and (control is not None or release is not None):
        raise ParameterError(
            "--epsilon and --precision are the sampler's; the others state their own."
        )
    if texts is not None and release is None:
        raise ParameterError("--texts needs --release, the folder that was made from them.")
    with progress("Auditing"), needs_extra("release"):
        if control is not None:
            report = _audit_control(control)
        elif release is not None:
            report = _audit_release(release, texts, reading, stop_words)
        else:
            report = _audit_sampler(epsilon, precision)
    _show(report, as_json=as_json, of_folder=release is not None, texts=texts is not None)


def _audit_sampler(epsilon: str | None, precision: int | None) -> "AuditReport":
    from sottovoce_spark.trial import drawn_in_shards  # noqa: PLC0415 - keeps --help fast

    from sottovoce.privacy.guarantee import LimitedPrecision  # noqa: PLC0415 - fast --help
    from sottovoce.release.audit import audit_sampler  # noqa: PLC0415 - fast --help

    n = DEFAULT_PRECISION if precision is None else precision
    if not 1 <= n <= LARGEST_PRECISION:
        raise ParameterError(f"--precision must lie between 1 and {LARGEST_PRECISION}, got {n}.")
    claim = LimitedPrecision(n, DEFAULT_EPSILON if epsilon is None else epsilon)
    return audit_sampler(claim, others={"in shards": drawn_in_shards})


def _audit_control(name: str) -> "AuditReport":
    from sottovoce.release.audit import audit_control  # noqa: PLC0415 - fast --help

    return audit_control(name)


def _audit_release(
    folder: Path, texts: Path | None, reading: ReadingOptions, stop_words: str | None
) -> "AuditReport":
    from sottovoce.release.audit import audit_release  # noqa: PLC0415 - keeps --help fast

    if texts is None:
        return audit_release(folder)
    from sottovoce.release.audit import audit_held  # noqa: PLC0415 - fast --help

    return audit_held(folder, texts, partial(reading.choose, texts), stop_words)


def in_short(report: "AuditReport", *, of_folder: bool, texts: bool = False) -> str:
    """What the rows come to, what they are about, and what no audit sees."""
    made = [each for each in report.findings if not each.is_figure]
    checks, failed = len(made), [each.name for each in made if not each.holds]
    came_to = (
        f"{len(failed)} of {_checks(checks)} failed: {'; '.join(failed)}."
        if failed
        else f"{_checks(checks)} refuted nothing."
    )
    if of_folder:
        theirs = sum(_is_about_the_folder(finding) for finding in made)
        came_to += (
            f" {theirs} of them looked at the counts in this folder; the other {checks - theirs} "
            "tried this installation's sampler at the noise that the card states."
        )
    if failed:
        return came_to
    unseen = "" if texts or not of_folder else _WITHOUT_TEXTS
    return (
        f"{came_to} That is no proof: an audit cannot see another process that draws with the same "
        f"key, nor kinds of release that it does not try{unseen}."
    )


def _checks(number: int) -> str:
    return "1 check" if number == 1 else f"{number} checks"


def _is_about_the_folder(finding: "Finding") -> bool:
    """The same checks on noise of ours have the way in which it was drawn in their names."""
    of_draw = finding.name.startswith(("noise ", "rows ", "columns ")) and "(" not in finding.name
    return of_draw or WITH_TEXTS in finding.name


def _show(report: "AuditReport", *, as_json: bool, of_folder: bool, texts: bool) -> None:
    if as_json:
        findings = [_record(finding) for finding in report.findings]
        show_json({"holds": report.holds, "findings": findings})
    else:
        show_rows("audit", [_row(finding) for finding in _each_once(report)])
        typer.echo(in_short(report, of_folder=of_folder, texts=texts))
    if not report.holds:
        checks = [finding.holds for finding in report.findings if not finding.is_figure]
        rest = ", unless it was made from other texts" if texts else ""
        raise CheckFailedError(
            f"the claim does not hold: {checks.count(False)} of {len(checks)} checks contradict "
            f"it; do not publish under it{rest}."
        )


def _each_once(report: "AuditReport") -> Iterator["Finding"]:
    """What failed, and one of the ways of releasing in which a check held."""
    seen: set[str] = set()
    for finding in report.findings:
        name = finding.name.partition(" (")[0]
        if not finding.holds or name not in seen:
            yield finding
        seen.add(name)


def _record(finding: "Finding") -> dict[str, object]:
    return {
        "name": finding.name,
        "holds": finding.holds,
        "claim": _finite(finding.claim),
        "bound": _finite(finding.bound),
        "tightness": _finite(finding.tightness),
        "detail": finding.detail,
    }


def _row(finding: "Finding") -> dict[str, object]:
    outcome = "holds" if finding.holds else "FAILS"
    outcome = "figure" if finding.is_figure else outcome
    return {"check": finding.name, "outcome": outcome, "seen": finding.detail}


def _finite(number: float | None) -> float | None:
    """What JSON can hold: an event that was never seen bounds epsilon by minus infinity."""
    return number if number is not None and math.isfinite(number) else None

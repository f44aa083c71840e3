"""``sottovoce audit``."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, progress, show_json, show_rows
from sottovoce.errors import CheckFailedError, ParameterError

if TYPE_CHECKING:
    from sottovoce.privacy.audit._findings import AuditReport, Finding


DEFAULT_EPSILON, DEFAULT_PRECISION = "1", 2
# The experiment's work grows with the square of N, and any N tests the same rate.
LARGEST_PRECISION = 1000


def audit(
    sampler: Annotated[
        bool, typer.Option("--sampler", help="Audit the noise at a claim; the default.")
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(
            help="Audit a release that is broken on purpose, and exit 1: paper-accounting, "
            "float-noise or reused-keystream."
        ),
    ] = None,
    release: Annotated[Path | None, typer.Option(help="Audit a release's folder.")] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help=f"The sampler's claim, as 0.1 or 1/3; default: {DEFAULT_EPSILON}."),
    ] = None,
    precision: Annotated[
        int | None,
        typer.Option(help=f"The sampler's claim: N, in words; default: {DEFAULT_PRECISION}."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try to refute a privacy claim: exit code 0 (no proof) when no check fails, else 1.

    Example: sottovoce audit --sampler --epsilon 1/2 --precision 4
    """
    if sum((sampler, control is not None, release is not None)) > 1:
        raise ParameterError("give one of --sampler, --control and --release, not several.")
    claimed = epsilon is not None or precision is not None
    if claimed and (control is not None or release is not None):
        raise ParameterError(
            "--epsilon and --precision are the sampler's; the others state their own."
        )
    with progress("Auditing"), needs_extra("release"):
        if control is not None:
            report = _audit_control(control)
        elif release is not None:
            report = _audit_release(release)
        else:
            report = _audit_sampler(epsilon, precision)
    _show(report, as_json=as_json, of_folder=release is not None)


def _audit_sampler(epsilon: str | None, precision: int | None) -> "AuditReport":
    from sottovoce.privacy._guarantee import LimitedPrecision  # noqa: PLC0415 - keeps --help fast
    from sottovoce.release._audit import audit_sampler  # noqa: PLC0415 - fast --help

    n = DEFAULT_PRECISION if precision is None else precision
    if not 1 <= n <= LARGEST_PRECISION:
        raise ParameterError(f"--precision must lie between 1 and {LARGEST_PRECISION}, got {n}.")
    return audit_sampler(LimitedPrecision(n, DEFAULT_EPSILON if epsilon is None else epsilon))


def _audit_control(name: str) -> "AuditReport":
    from sottovoce.release._audit import audit_control  # noqa: PLC0415 - fast --help

    return audit_control(name)


def _audit_release(folder: Path) -> "AuditReport":
    from sottovoce.release._audit import audit_release  # noqa: PLC0415 - keeps --help fast

    return audit_release(folder)


def in_short(report: "AuditReport", *, of_folder: bool) -> str:
    """What the rows come to, what they are about, and what no audit sees."""
    checks, failed = len(report.findings), [each.name for each in report.findings if not each.holds]
    came_to = (
        f"{len(failed)} of {_checks(checks)} failed: {'; '.join(failed)}."
        if failed
        else f"Nothing was refuted by {_checks(checks)}."
    )
    if of_folder:
        theirs = sum(_is_about_the_folder(finding) for finding in report.findings)
        came_to += (
            f" {theirs} of them looked at the counts in this folder; the other {checks - theirs} "
            "tried this installation's sampler at the noise that the card states."
        )
    if failed:
        return came_to
    return (
        f"{came_to} That is no proof: an audit does not see another process that draws under the "
        "same key, nor ways to release that it does not take"
        + (
            ", nor in a folder a lack of noise where true counts are unlike or epsilon/N is above "
            "2 or so."
            if of_folder
            else "."
        )
    )


def _checks(number: int) -> str:
    return "1 check" if number == 1 else f"{number} checks"


def _is_about_the_folder(finding: "Finding") -> bool:
    """The same checks on noise of ours have the way in which it was drawn in their names."""
    return finding.name.startswith(("noise ", "rows ", "columns ")) and "(" not in finding.name


def _show(report: "AuditReport", *, as_json: bool, of_folder: bool) -> None:
    if as_json:
        findings = [_record(finding) for finding in report.findings]
        show_json({"holds": report.holds, "findings": findings})
    else:
        show_rows("audit", [_row(finding) for finding in report.findings])
        typer.echo(in_short(report, of_folder=of_folder))
    if not report.holds:
        failed = sum(not finding.holds for finding in report.findings)
        raise CheckFailedError(
            f"the claim does not hold: {failed} of {len(report.findings)} checks contradict it; "
            "do not publish under it."
        )


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
    return {"check": finding.name, "outcome": outcome, "seen": finding.detail}


def _finite(number: float | None) -> float | None:
    """What JSON can hold: an event that was never seen bounds epsilon by minus infinity."""
    return number if number is not None and math.isfinite(number) else None

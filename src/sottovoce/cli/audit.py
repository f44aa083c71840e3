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
    _show(report, as_json=as_json)


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


def _show(report: "AuditReport", *, as_json: bool) -> None:
    if as_json:
        findings = [_record(finding) for finding in report.findings]
        show_json({"holds": report.holds, "findings": findings})
    else:
        show_rows("audit", [_row(finding) for finding in report.findings])
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

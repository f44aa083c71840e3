"""What an audit found: small values that print, and say whether the claim holds."""

from dataclasses import dataclass, replace

from sottovoce.notebook import html_table


@dataclass(frozen=True)
class Finding:
    """One check: what was claimed, what was seen, and whether the claim survives it."""

    name: str
    holds: bool
    detail: str
    claim: float | None = None
    bound: float | None = None

    @property
    def tightness(self) -> float | None:
        """The lower bound on epsilon as a share of the claim: near 1, the check was powerful."""
        if self.claim is None or self.bound is None:
            return None
        return self.bound / self.claim

    def by(self, way: str) -> "Finding":
        """The same finding, with the way in which the noise was drawn in its name."""
        return replace(self, name=f"{self.name} ({way})")

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}  {self.name}: {self.detail}"


@dataclass(frozen=True)
class AuditReport:
    """The findings of one audit; it holds when each of them does.

    >>> print(AuditReport((Finding("noise is there", True, "seen in 3 of 3 rows"),)))
    holds  noise is there: seen in 3 of 3 rows
    """

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether no check contradicts the claim."""
        return all(finding.holds for finding in self.findings)

    def _repr_html_(self) -> str:
        rows = [
            {"check": each.name, "holds": each.holds, "detail": each.detail}
            for each in self.findings
        ]
        return html_table(rows, "The claim holds" if self.holds else "The claim is refuted")

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)

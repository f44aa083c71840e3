"""Who learns what from a protocol, as data."""

from dataclasses import dataclass

from sottovoce.notebook import html_table


@dataclass(frozen=True)
class Learns:
    """What one party knows after a run that it did not know before."""

    who: str
    what: str


@dataclass(frozen=True)
class Leakage:
    """A protocol's leakage statement.

    Attributes:
        protocol: its name.
        learns: who learns what, everybody who takes part.
        collusion: which coalition learns more, and what.
        assumes: what must hold for the statement to be true.

    Example:
        >>> from sottovoce.learn import train
        >>> holder = ([[0.0, 1.0], [1.0, 0.0]] * 6, [0, 1] * 6)
        >>> leakage = train([holder] * 3, penalty=0.1).leakage
        >>> [row.who for row in leakage.learns]
        ['coordinator', 'every peer']
    """

    protocol: str
    learns: tuple[Learns, ...]
    collusion: str
    assumes: str = "honest but curious parties, authenticated private channels"

    def _repr_html_(self) -> str:
        rows = [{"who": row.who, "learns": row.what} for row in self.learns]
        return html_table(
            [*rows, {"who": "together", "learns": self.collusion}],
            f"Who learns what: {self.protocol}",
        )

    def table(self) -> str:
        """The statement as a Markdown table."""
        rows = [f"| {row.who} | {row.what} |" for row in self.learns]
        lines = ["| who | learns |", "|---|---|", *rows, f"| together | {self.collusion} |"]
        return "\n".join(lines)

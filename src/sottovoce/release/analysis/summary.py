"""What a release supports, in one object: its law, its meter, its words and pairs."""

from dataclasses import dataclass, field, replace

from sottovoce._notebook import html_facts, text_table
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.meter import SignalMeter
from sottovoce.release.analysis.pairs import PairTotals
from sottovoce.release.analysis.totals import TellingWords, WordTotals

_SHOWN = 5
NO_PAIRS = "No two words stand together beyond chance."


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseSummary:
    """What a release supports, read by the law of its noise.

    Printed it says so in a few lines; its parts are there to be asked further.
    """

    law: NoiseLaw
    documents: int
    words: int
    columns: int
    labels: dict[str, int]
    """How many documents each public label has; empty: no labels."""
    meter: SignalMeter
    totals: WordTotals
    """Of words, or of columns where words share them."""
    pairs: PairTotals
    telling: TellingWords | None = field(default=None)
    """Words that the documents of a label use more than the others do."""

    @property
    def mean_length(self) -> float:
        """Counted words a document, about."""
        return float(sum(self.totals.table["total"].to_pylist())) / self.documents

    @property
    def certain_words(self) -> int:
        """How many words, or columns, were used beyond doubt: their intervals lie above 0.

        All intervals hold at once, so that it does not matter how many words are looked at.
        """
        return sum(low > 0 for low in self.totals.table["low"].to_pylist())

    def clear_pairs(self, most: int) -> PairTotals:
        """At most so many of the pairs that chance does not explain, looking at all pairs."""
        number = min(most, self.pairs.beyond_chance())
        return replace(self.pairs, table=self.pairs.table.slice(0, number))

    def label_words(self, most: int) -> dict[str, list[str]]:
        """For each label at most so many words that it uses more, beyond chance."""
        found = {} if self.telling is None else self.telling.beyond_chance(self.columns)
        return {label: words[:most] for label, words in sorted(found.items())}

    def facts(self) -> dict[str, object]:
        """The figures by name."""
        what = "words" if self.words == self.columns else "columns"
        return {
            "documents": self.documents,
            "words": self.words,
            "columns": self.columns,
            "labels": len(self.labels) or None,
            "rate of the noise": self.law.rate,
            "standard deviation of a cell's noise": self.law.variance**0.5,
            "counted words a document, about": self.mean_length,
            f"{what} used beyond doubt": self.certain_words,
            "dimensions above the noise": self.meter.dimensions,
        }

    def __repr__(self) -> str:
        return (
            f"ReleaseSummary(documents={self.documents}, columns={self.columns}, "
            f"dimensions={self.meter.dimensions}, certain_words={self.certain_words})"
        )

    def __str__(self) -> str:
        pairs = self.clear_pairs(_SHOWN)
        return "\n\n".join(
            [
                text_table([{"": name, " ": value} for name, value in self.facts().items()]),
                self.meter.in_words(),
                text_table(self.totals.shown(_SHOWN)),
                str(pairs) if len(pairs) else NO_PAIRS,
            ]
        )

    def _repr_html_(self) -> str:
        facts = html_facts(self.facts(), "What this release supports")
        pairs = self.clear_pairs(_SHOWN)
        return facts + self.totals._repr_html_() + (pairs._repr_html_() if len(pairs) else "")

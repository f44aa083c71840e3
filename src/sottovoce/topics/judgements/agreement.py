"""How far the judges of a study agree: kappa, and how many items had how many votes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sottovoce.topics.judgements.kappa import KappaInterval, kappa_interval
from sottovoce.topics.judgements.votes import Vote, vote_counts


@dataclass(frozen=True)
class AgreementRow:
    """``items`` items were called sensitive by ``agreeing`` of their ``judges`` judges."""

    agreeing: int
    judges: int
    items: int

    def row(self) -> dict[str, object]:
        """For a table or JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Agreement:
    """Of one set of votes."""

    items: int
    judges: int
    votes: int
    equal_judges: bool
    """Whether every item has the same number of votes, as Fleiss' own formula wants."""
    kappa: KappaInterval
    table: tuple[AgreementRow, ...]


def agreement(votes: Sequence[Vote], *, seed: int = 0) -> Agreement:
    """Kappa with its interval, and R-Susceptibility, Table 1."""
    items, counts = vote_counts(votes)
    judges = counts.sum(axis=1)
    return Agreement(
        items=len(items),
        judges=len({vote.judge for vote in votes}),
        votes=len(votes),
        equal_judges=len(set(judges.tolist())) == 1,
        kappa=kappa_interval(counts, seed=seed),
        table=agreement_table(votes),
    )


def agreement_table(votes: Sequence[Vote]) -> tuple[AgreementRow, ...]:
    """Number of items by number of judges who called them sensitive, most judges first.

    R-Susceptibility, Table 1. Items with unequal numbers of judges have rows of their own.
    """
    _, counts = vote_counts(votes)
    found = Counter(zip(counts[:, 0].tolist(), counts.sum(axis=1).tolist(), strict=True))
    sizes = sorted({judges for _, judges in found}, reverse=True)
    return tuple(
        AgreementRow(agreeing, judges, found[agreeing, judges])
        for judges in sizes
        for agreeing in range(judges, -1, -1)
    )

"""What a release would cost and do to sums, from what ledgers know and public figures.

A cell's noise has variance v = 2 alpha/(1 - alpha)^2 with alpha = e^-r. Over D rows a word's total
has the standard error sqrt(D v). A pair's total has at least sqrt(D) v: the noise of each cell is
multiplied by the other's, and true counts only add to it.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from sottovoce._notebook import html_facts
from sottovoce.errors import BudgetError
from sottovoce.files import check_folder
from sottovoce.privacy.exact import text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import Account, SpendRequest, check_budget
from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace
from sottovoce.privacy.ledger.database import holds_ledger
from sottovoce.privacy.ledger.elsewhere import SpentThere, budgets_in, new_here, refuse_beyond
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.totals import level_at_once, noise_reach
from sottovoce.release.card import ReleaseCard
from sottovoce.release.job import Job, check_room, refuse_another_release

_TOO_SMALL = "the budget does not allow even this release; nothing was spent or released."
_UNCOUNTED = (
    "{}. The named ledger does not count that: for a reader of both releases their epsilons add up."
)
_LEVEL = 0.95


@dataclass(frozen=True)
class SumErrors:
    """Standard errors of sums, and the smallest total that stands out.

    >>> from fractions import Fraction
    >>> errors = SumErrors(rows=1000, columns=300, rate=Fraction(1))
    >>> round(errors.word, 1), round(errors.pair, 1), errors.smallest_total
    (42.9, 58.2, 162)
    """

    rows: int
    columns: int
    rate: Fraction
    """Of the noise, in nats per word: epsilon/N."""

    @property
    def word(self) -> float:
        """The standard error of a column's total: sqrt(D v)."""
        return math.sqrt(self.rows * self._variance)

    @property
    def pair(self) -> float:
        """The least standard error of a total of two columns together: sqrt(D) v."""
        return math.sqrt(self.rows) * self._variance

    @property
    def smallest_total(self) -> int:
        """The least total that stands above 0 with all columns looked at, 95 times in 100.

        As *beyond doubt* in `analyse`: the level is divided by the columns.
        """
        law = NoiseLaw(float(self.rate))
        reach = noise_reach(law, self.rows, level_at_once(_LEVEL, self.columns))
        return math.floor(reach) + 1

    def facts(self) -> dict[str, float]:
        """The figures by name."""
        return {
            "word_error": self.word,
            "pair_error_at_least": self.pair,
            "smallest_total_that_stands_out": self.smallest_total,
        }

    def in_words(self) -> str:
        """The figures as sentences."""
        return (
            f"The standard error of a word's total is {self.word:.3g}, of a pair's at least "
            f"{self.pair:.3g}; totals from {self.smallest_total:,} up stand above 0 with all "
            f"{self.columns:,} columns looked at (95%). At rates below 1, half the "
            "rate costs four times the documents for the same relative error."
        )

    def __str__(self) -> str:
        return self.in_words()

    @property
    def _variance(self) -> float:
        return NoiseLaw(float(self.rate)).variance


@dataclass(frozen=True, kw_only=True, repr=False)
class LedgerStanding:
    """How a release stands with the ledgers that know its documents."""

    account: Account
    """What the ledger says of the documents once it is made."""
    paid_before: bool
    """Whether the ledger holds this very release already: it then costs nothing."""
    spent_before: str = ""
    """How many of the documents have spent how much already, in words; nothing: none has."""
    elsewhere: tuple[SpentThere, ...] = field(default=(), compare=False)
    """What they have spent in other ledgers that were found."""
    uncounted: str = ""
    """A warning that the ledger that was named does not count what others do."""
    ledger: Path = field(default=Path(), compare=False)

    def fixes(self, asked: LimitedPrecision | None) -> str:
        """A warning that a first release fixes what its documents may ever spend; "" for others."""
        if asked is not None or self.paid_before or self.spent_before:
            return ""
        fixed = self.account.budget
        return (
            "this first release fixes the budget of these documents: epsilon "
            f"{text_up(fixed.epsilon)} at N={fixed.n}; --budget would allow more releases, and "
            "cannot be changed later."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleaseQuote(LedgerStanding):
    """What a release would promise, hold and cost; nothing was drawn or spent for it.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     quoted = sv.release_counts(
    ...         ["my debt", "a loan"], words=["debt", "loan"], epsilon=2, precision=2, budget=5,
    ...         ledger=f"{folder}/my.ledger", dry_run=True,
    ...     )
    >>> quoted  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    ReleaseQuote(documents=2, words=2, columns=2, expected_nonzeros=3,
                 costs='epsilon 2 of 5 at N=2', rest='epsilon 3',
                 guarantee='(N=2, epsilon=2) ... per word')
    >>> str(quoted.cost), str(quoted.rest)
    ('2', '3')
    """

    card: ReleaseCard
    """The card that the release would have, but for its files and its spend."""
    expected_nonzeros: int
    """About how many cells would not be 0. Private: it follows from the true counts."""
    noise_deviation: float
    """The standard deviation of the noise on a column."""
    errors: SumErrors | None = None
    """What noise does to sums over the rows; None: a threshold would bias them."""

    @property
    def guarantee(self) -> LimitedPrecision:
        """What would truly hold for each document."""
        return self.card.guarantee

    @property
    def cost(self) -> Fraction:
        """The epsilon that would be spent, at the N of the documents' budget."""
        spent = Fraction(0) if self.paid_before else self.card.guarantee.rate
        return spent * self.account.budget.n

    @property
    def rest(self) -> Fraction:
        """The epsilon that these documents could still spend afterwards, at the same N."""
        return self.account.rest * self.account.budget.n

    def __repr__(self) -> str:
        card, budget = self.card, self.account.budget
        costs = f"epsilon {text_up(self.cost)} of {text_up(budget.epsilon)} at N={budget.n}"
        return (
            f"ReleaseQuote(documents={card.documents}, words={card.words}, "
            f"columns={card.columns}, expected_nonzeros={self.expected_nonzeros}, "
            f"costs={costs!r}, rest='epsilon {text_up(self.rest)}', "
            f"guarantee={str(card.guarantee)!r})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "documents": self.card.documents,
            "words": self.card.words,
            "columns": self.card.columns,
            "cells expected not to be 0 (for you only: follows from the true counts)": (
                self.expected_nonzeros
            ),
            "standard deviation of the noise": self.noise_deviation,
            "epsilon spent": text_up(self.cost),
            "epsilon left": text_up(self.rest),
            "errors of sums": self.errors,
            "promise": self.card.in_words(),
        }
        return html_facts(facts, "A release, not made yet")


def find_standing(
    job: Job, place: LedgerPlace, budget: LimitedPrecision | None, folder: Path | None
) -> LedgerStanding:
    """What ``job`` would cost, or the error there would be; writes nothing.

    ``folder``: None where it is not this machine's to look at.
    """
    if folder is not None:
        check_folder(folder)
    check_room(folder, place.path.parent, job.plan, job.documents.counts)
    if budget is not None and budget.rate < job.request.guarantee.rate:
        raise BudgetError(_TOO_SMALL)
    ledger = Ledger(place.path) if holds_ledger(place.path) else None
    elsewhere = place.spent_elsewhere(job.request, ledger)
    charged = place.counted_here(elsewhere)
    account, paid_before = _account_after(job, place, ledger, budget, folder, charged)
    documents = job.documents.documents
    here = "" if ledger is None or documents is None else ledger.spent_before(documents)
    words = [each.in_words() for each in elsewhere]
    is_apart = place.named and not paid_before and words
    return LedgerStanding(
        account=account,
        paid_before=paid_before,
        spent_before="; ".join(filter(None, [here, *words])),
        elsewhere=tuple(elsewhere),
        uncounted=_UNCOUNTED.format("; ".join(words)) if is_apart else "",
        ledger=place.path,
    )


def make_quote(job: Job, standing: LedgerStanding) -> ReleaseQuote:
    """What a dry run says of ``job``; a release needs none of it."""
    plan, (rows, _) = job.plan, job.documents.counts.shape
    unbiased = plan.settings.threshold is None
    return ReleaseQuote(
        **vars(standing),
        card=job.card(None),
        expected_nonzeros=job.plan.expected_nonzeros(job.documents.counts),
        noise_deviation=job.plan.noise_deviation,
        errors=SumErrors(rows, plan.columns, plan.noise_rate) if unbiased else None,
    )


def open_account(
    ledger: Ledger,
    job: Job,
    budget: LimitedPrecision | None,
    *,
    shared: bool = False,
    elsewhere: Sequence[SpentThere] = (),
) -> Account:
    """The account of the job's documents; those that are new get ``budget``, or what is due.

    A ledger that is not ``shared`` by all that its user releases, and knows other documents but
    none of these, needs the budget said outright, unless they have one ``elsewhere``.
    """
    request = ledger.key_names(job.request)
    if budget is not None and budget.rate < request.guarantee.rate:
        raise BudgetError(_TOO_SMALL)
    if budget is not None:
        ledger.set_budget(request.corpus, budget, request.documents)
    else:
        ledger.admit(request, shared=shared, elsewhere=elsewhere)
    return ledger.account(request.corpus)


def _account_after(
    job: Job,
    place: LedgerPlace,
    ledger: Ledger | None,
    budget: LimitedPrecision | None,
    folder: Path | None,
    elsewhere: Sequence[SpentThere],
) -> tuple[Account, bool]:
    """The account as it would be after ``job``, and whether that was paid for before."""
    request = job.request if ledger is None else ledger.key_names(job.request)
    own = None if ledger is None else ledger.find(request)
    refuse_another_release(folder, job, own)
    with _may_be_declared():
        if ledger is None:
            return _first_account(place.path, request, budget, elsewhere), False
        if own is None:
            shared = place.shared
            return ledger.quote(request, budget, shared=shared, elsewhere=elsewhere), False
    account = ledger.account(request.corpus)
    if budget is not None:
        check_budget(account, budget)
    return account, True


def _first_account(
    path: Path,
    request: SpendRequest,
    budget: LimitedPrecision | None,
    elsewhere: Sequence[SpentThere],
) -> Account:
    """The account after ``request`` in a ledger that is not there yet."""
    known = min(budgets_in(elsewhere), key=lambda each: each.rate, default=request.guarantee)
    given = known if budget is None else budget
    if elsewhere and request.documents is not None:
        refuse_beyond(new_here(path, request.documents, given), elsewhere, request)
    return Account(request.corpus, given, request.guarantee.rate)


@contextmanager
def _may_be_declared() -> Iterator[None]:
    """Say how to go on where documents may only say what others said."""
    try:
        yield
    except BudgetError as error:
        if not error.may_be_others:
            raise
        raise BudgetError(
            f"{error} If they are other documents that only say the same, say so with "
            "--declare-new-documents (in Python declare_new_documents=True)."
        ) from None

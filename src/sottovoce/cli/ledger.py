"""``sottovoce ledger``."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._output import AsJson, show_json, show_rows

if TYPE_CHECKING:
    from sottovoce.privacy.ledger.accounts import Account
    from sottovoce.privacy.ledger.groups import DocumentGroup
    from sottovoce.privacy.ledger.ledger import Spend


_SHOWN_OF_A_HASH = 12

ledger = typer.Typer(
    help="Show and move privacy budgets: what documents may spend, and have spent.",
    no_args_is_help=True,
)


@ledger.command()
def show(file: Path | None = None, *, as_json: AsJson = False) -> None:
    """Show the privacy budget of every corpus, what is left of it, and what it was spent on.

    For each corpus it shows the documents with the least budget left, whichever corpora they
    spent it in. Documents with the same text count once.

    Printed amounts are rounded to be safe: spent ones up, remaining ones down. JSON has the exact
    ratios too.

    Example: sottovoce ledger show

    Args:
        file: The ledger; default: one for everything you release.
    """
    from sottovoce.privacy.ledger.elsewhere import refuse_lost, user_ledger  # noqa: PLC0415 - fast --help
    from sottovoce.privacy.ledger.ledger import Ledger  # noqa: PLC0415 - keeps --help fast

    path = file or user_ledger()
    if not path.exists():
        refuse_lost(path)
    opened = Ledger(path)
    try:
        accounts = [(account, opened.spends(account.corpus)) for account in opened.accounts()]
    finally:
        opened.close()
    if as_json:
        show_json({"accounts": [_record(account, spends) for account, spends in accounts]})
        return
    _show_tables(accounts)


@ledger.command("forget-place")
def forget_place(file: Path, *, as_json: AsJson = False) -> None:
    """Go on without a ledger that is lost for good.

    A release asks every ledger that was used on this machine, and stops if one does not answer.
    This command lets releases go on. What that ledger spent then no longer counts: if you release
    the same documents again, whoever sees both releases learns as much as the sum of their epsilons
    allows. So restore the ledger, with its key and outputs, if you can. A ledger that still answers
    is not forgotten.

    Example: sottovoce ledger forget-place old/notes.ledger

    Args:
        file: The ledger, as the error message names it.
    """
    from sottovoce.privacy.ledger.chosen_ledger import forget_ledger  # noqa: PLC0415 - fast --help

    spends = forget_ledger(file)
    if as_json:
        show_json({"ledger": file, "spends_forgotten": spends})
        return
    typer.echo(
        f"Releases no longer ask the ledger {file}, and its {spends} spends no longer count: "
        "publish none of its documents again, or add the epsilons of both releases."
    )


@ledger.command()
def move(
    source: Annotated[Path, typer.Argument(metavar="FROM")], to: Path, *, as_json: AsJson = False
) -> None:
    """Move a ledger to another machine: pack it here, unpack it there.

    The archive holds the ledger, its key and its outputs: protect it like a key. After the first
    command, the ledger no longer works here. The second command, there, unpacks the archive and
    removes it; then the ledger works there. After a crash, run the same command again. Unpack the
    archive only once: two machines cannot notice each other.

    Example: sottovoce ledger move my.ledger carried.zip

    Example: sottovoce ledger move carried.zip my.ledger

    Args:
        source: The ledger, or its archive.
        to: Here a new file for the archive; there the new ledger.
    """
    from sottovoce.privacy.ledger.chosen_ledger import move_ledger  # noqa: PLC0415 - fast --help

    move_ledger(source, to)
    show_json({"moved_to": to}) if as_json else typer.echo(f"Moved to {to}.")


def _show_tables(accounts: "list[tuple[Account, list[Spend]]]") -> None:
    if not accounts:
        typer.echo("No corpus has a budget in this ledger.")
        return
    show_rows("accounts", [_account_row(account) for account, _ in accounts])
    rows = [_spend_row(spend) for _, spends in accounts for spend in spends]
    if rows:
        show_rows("spends", rows)
    for account, _ in accounts:
        if len(account.groups) > 1:
            corpus = account.corpus[:_SHOWN_OF_A_HASH]
            typer.echo(f"corpus {corpus}: {'; '.join(map(str, account.groups))}.")


def _account_row(account: "Account") -> dict[str, object]:
    from sottovoce.privacy.exact import text_up  # noqa: PLC0415 - keeps --help fast

    n = account.budget.n
    return {
        "corpus": account.corpus[:_SHOWN_OF_A_HASH],
        "documents": account.documents,
        "unit": account.budget.unit,
        "N": n,
        "budget epsilon": text_up(account.budget.epsilon),
        "spent": text_up(account.spent * n),
        # Down is up on the negative side; what was overspent is shown as 0 left.
        "left": text_up(min(Fraction(0), -account.rest * n)).removeprefix("-"),
    }


def _spend_row(spend: "Spend") -> dict[str, object]:
    from sottovoce.privacy.exact import text_up  # noqa: PLC0415 - keeps --help fast

    asked = spend.request
    return {
        "id": spend.id,
        "corpus": asked.corpus[:_SHOWN_OF_A_HASH],
        "request": asked.id[:_SHOWN_OF_A_HASH],
        "part": asked.part or None,
        "N": asked.guarantee.n,
        "epsilon": text_up(asked.guarantee.epsilon),
        "time": spend.time,
        "output stored": spend.output is not None,
    }


def _record(account: "Account", spends: "list[Spend]") -> dict[str, object]:
    from sottovoce.privacy.exact import float_up  # noqa: PLC0415 - keeps --help fast
    from sottovoce.privacy.whole_document import to_record  # noqa: PLC0415 - keeps --help fast

    spent, left = account.spent * account.budget.n, account.rest * account.budget.n
    return {
        "corpus": account.corpus,
        "documents": account.documents,
        "documents_by_spend": [_group_record(group) for group in account.groups],
        "budget": to_record(account.budget),
        "spent": {**_ratios(spent, account.spent), "epsilon_rounded_up": float_up(spent)},
        "left": {**_ratios(left, account.rest), "epsilon_rounded_down": 0.0 - float_up(-left)},
        "spends": [_spend_record(spend) for spend in spends],
    }


def _group_record(group: "DocumentGroup") -> dict[str, object]:
    from sottovoce.privacy.whole_document import to_record  # noqa: PLC0415 - keeps --help fast

    return {
        "documents": group.documents,
        "budget": to_record(group.budget),
        "spent": _ratios(group.spent * group.budget.n, group.spent),
    }


def _ratios(epsilon: "Fraction", rate: "Fraction") -> dict[str, object]:
    return {"epsilon": str(epsilon), "nats_per_word": str(rate)}


def _spend_record(spend: "Spend") -> dict[str, object]:
    from sottovoce.privacy.whole_document import to_record  # noqa: PLC0415 - keeps --help fast

    stored = spend.output
    return {
        "id": spend.id,
        "request": spend.request.id,
        "part": spend.request.part or None,
        "guarantee": to_record(spend.request.guarantee),
        "time": spend.time,
        "output": stored and {"file": stored.path, "sha256": stored.sha256, "bytes": stored.size},
    }

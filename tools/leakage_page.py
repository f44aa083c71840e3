"""Write docs/reference/learn-leakage.md: who learns what in each run and protocol, by the code.

A run that differs little from one before it is shown by the rows that differ. Run it when what a
protocol tells somebody has changed; a test compares the page.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.learn.features import TextRecipe
from sottovoce.learn.modes import comparison
from sottovoce.learn.rados import intermediary
from sottovoce.learn.run.leakage import mode_leakage, run_leakage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.solve import chebyshev, masked
from sottovoce.learn.sums import keys
from sottovoce.learn.training_terms import Mode, Recipe
from sottovoce.learn.wire.message import Leakage

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "learn-leakage.md"
PEERS = {name: bytes(32) for name in ("ada", "ben", "cy", "dee")}
INTRODUCTION = """\
# Who learns what in `learn`

Made from the code by `tools/leakage_page.py`; a test compares. `trained.leakage.table()` and the
summary of a training show the table of exactly what was run. [Training
together](../explanation/learn-protocols.md) says which mode to take.

*Coordinator*, *key holder* and *every peer* are curious: they follow the protocol and remember
everything. The rows below them are about those who do more: a peer who hands the coordinator all
that it has, a party that lies, one that comes back from a backup. A table that says *otherwise
as* shows only the rows that differ, and of a row *as there* only what comes to it or is gone. After
the runs come the [protocols](#protocols) they are built from.
"""
MOST_GONE = 5
"""Words of what somebody does not learn that they learn in the table before."""
PROTOCOLS = """\
## Protocols

For honest but curious parties on authenticated private channels.
"""


class Run(NamedTuple):
    """A kind of run or a protocol, and which one before it is like it."""

    title: str
    leakage: Leakage
    like: str = ""


def _mode(mode: Mode, **recipe: Any) -> Leakage:  # noqa: ANN401 - of a recipe
    return mode_leakage(mode, Recipe(**recipe))


def _run(**given: Any) -> Leakage:  # noqa: ANN401 - of terms
    return run_leakage(RunTerms(bytes(16), identities=PEERS, text=TextRecipe(), **given))


def runs() -> Iterator[Run]:
    """All kinds, each after the one that it is like."""
    penalty: dict[str, Any] = {"penalty": 0.1}
    yield Run("`open`, pairwise masks", _mode("open"))
    yield Run(
        "`open`, rados", _mode("open", statistics="rados", **penalty), "`open`, pairwise masks"
    )
    yield Run("`hidden`", _mode("hidden", **penalty), "`open`, pairwise masks")
    agreed = "Texts with an agreed dictionary, `open`"
    yield Run(agreed, _run(kind="train", mode="open"), "`open`, pairwise masks")
    recipe = Recipe(penalty=0.1)
    asked = {"training": bytes(16), "asker": "ada", "rows": 3, "recipe": recipe}
    yield Run("A hidden query of three rows", _run(kind="classify", mode="hidden", **asked))
    yield Run("An evaluation, `open`", _run(kind="evaluate", mode="open", training=bytes(16)))
    yield Run("Rados by an intermediary", _run(kind="rados", mode="open", recipe=recipe), agreed)


def protocols() -> Iterator[Run]:
    """What runs are built from, each after the one that it is like."""
    yield Run("A sum by pairwise masks", keys.LEAKAGE)
    yield Run("Rados by a blind intermediary (Protocol 1)", intermediary.LEAKAGE)
    yield Run("The exact masked solve", masked.LEAKAGE)
    yield Run("Chebyshev on shares", chebyshev.LEAKAGE, "The exact masked solve")
    yield Run("Bitwise comparison", comparison.LEAKAGE)


def sections(kinds: Iterable[Run], heading: str) -> Iterator[str]:
    """A section for each kind, with the rows that differ from the one that it is like."""
    shown: dict[str, dict[str, str]] = {}
    for run in kinds:
        rows = rows_of(run.leakage)
        shown[run.title] = rows
        like = shown.get(run.like, {})
        note = f"Otherwise as *{run.like.replace('`', '')}*.\n\n" if like else ""
        differing = [
            f"| {who} | {beyond(what, like.get(who, ''))} |\n"
            for who, what in rows.items()
            if like.get(who) != what
        ]
        yield f"{heading} {run.title}\n\n{note}| who | learns |\n|---|---|\n{''.join(differing)}"


def rows_of(leakage: Leakage) -> dict[str, str]:
    """Who learns what, in the order of the table."""
    rows = {row.who: row.what for row in (*leakage.learns, *leakage.against)}
    return {**rows, "together": leakage.collusion}


def beyond(what: str, before: str) -> str:
    """What somebody learns, without the parts that the table before has of them.

    If it has all, or all but one that is said in few words.
    """
    known, learnt = before.split("; "), what.split("; ")
    gone = [part for part in known if part not in learnt]
    if len(gone) == len(known) or len(" ".join(gone).split()) > MOST_GONE or len(gone) > 1:
        return what
    there = ", but not ".join(["as there", *gone])
    return "; ".join([there, *(part for part in learnt if part not in known)])


def page() -> str:
    """The text of the page."""
    parts = [INTRODUCTION, *sections(runs(), "##"), PROTOCOLS, *sections(protocols(), "###")]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

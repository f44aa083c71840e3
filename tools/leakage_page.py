"""Write docs/reference/learn-leakage.md: who learns what in each kind of run, as the code says it.

A run that differs little from one before it is shown by the rows that differ. Run it when what a
protocol tells somebody has changed; a test compares the page.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.learn._features import TextRecipe
from sottovoce.learn._run.leakage import mode_leakage, run_leakage
from sottovoce.learn._run.terms import RunTerms
from sottovoce.learn._training_terms import Mode, Recipe
from sottovoce.learn._wire.machine import Leakage

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "learn-leakage.md"
PEERS = {name: bytes(32) for name in ("ada", "ben", "cy", "dee")}
HEAD = 2
INTRODUCTION = """\
# Who learns what in `learn`

Made from the code by `tools/leakage_page.py`; a test compares. `trained.leakage.table()` and the
summary of a training show the table of exactly what was run. [Training
together](../explanation/learn-protocols.md) says which mode to take.

*Coordinator*, *key holder* and *every peer* are curious: they follow the protocol and remember
everything. The rows below them are about those who do more: a peer who hands the coordinator all
that it has, a party that lies, one that comes back from a backup. A table that says *otherwise
as* shows only the rows that differ.
"""


class Run(NamedTuple):
    """A kind of run, and which one before it is like it."""

    title: str
    leakage: Leakage
    like: str = ""


def _mode(mode: Mode, *, blocks: bool = False, **recipe: Any) -> Leakage:  # noqa: ANN401 - of a recipe
    return mode_leakage(mode, Recipe(**recipe), blocks=blocks)


def _run(**given: Any) -> Leakage:  # noqa: ANN401 - of terms
    return run_leakage(RunTerms(bytes(16), identities=PEERS, text=TextRecipe(), **given))


def runs() -> Iterator[Run]:
    """All kinds, each after the one that it is like."""
    penalty: dict[str, Any] = {"penalty": 0.1}
    yield Run("`open`, pairwise masks", _mode("open"))
    yield Run("`open`, packed Paillier", _mode("open", way="packed"), "`open`, pairwise masks")
    yield Run(
        "`open`, rados", _mode("open", statistics="rados", **penalty), "`open`, pairwise masks"
    )
    yield Run("`open`, block rados without matching", _mode("open", blocks=True))
    yield Run("`hidden`", _mode("hidden", **penalty))
    yield Run("`hidden` with a dealer", _mode("hidden", solver="dealer", **penalty), "`hidden`")
    yield Run("`paper`", _mode("paper", statistics="rados", **penalty))
    agreed = "Texts with an agreed dictionary, `open`"
    yield Run(agreed, _run(kind="train", mode="open"), "`open`, pairwise masks")
    recipe = Recipe(penalty=0.1)
    asked = {"training": bytes(16), "asker": "ada", "rows": 3, "recipe": recipe}
    yield Run("A hidden query of three rows", _run(kind="classify", mode="hidden", **asked))
    yield Run("An evaluation, `open`", _run(kind="evaluate", mode="open", training=bytes(16)))
    yield Run("Rados by an intermediary", _run(kind="rados", mode="open", recipe=recipe), agreed)


def page() -> str:
    """The text of the page."""
    shown: dict[str, list[str]] = {}
    parts = [INTRODUCTION]
    for run in runs():
        lines = run.leakage.table().splitlines()
        shown[run.title] = lines
        like = shown.get(run.like, [])
        differing = [line for line in lines[HEAD:] if line not in like]
        note = f"Otherwise as *{run.like.replace('`', '')}*.\n\n" if like else ""
        table = "\n".join([*lines[:HEAD], *differing])
        parts.append(f"## {run.title}\n\n{note}{table}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

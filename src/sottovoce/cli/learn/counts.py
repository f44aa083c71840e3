"""``sottovoce learn count`` and ``topics``: counts under noise over all peers' documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, progress, show_facts, show_json, show_rows
from sottovoce.cli.learn._output import (
    ConfigOption,
    WaitOption,
    ask_or_read,
    show_summary,
    table_kind,
    watch_run,
    write_table,
)
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.learn.count.opened import TogetherCounts
    from sottovoce.learn.count.reading import CountedTopics

_FORMATS = (".csv", ".jsonl", ".counts")
_LEVEL = 0.95


@dataclass(frozen=True)
class AskedOptions(OptionGroup):
    """What is counted, and what it costs a document.

    Args:
        words: The public words to count, one per line.
        epsilon: Epsilon of a whole document, exactly as written: 1, 0.5, 1/3.
        votes: The most votes per document, one for the document itself included.
        pairs: Count pairs of words that occur in the same document.
        labels: All labels, which are public: ham,spam; count by label.
        per_user: How many documents of one user may vote at each peer.
        declare_data_dependent: Declare that the words were chosen from the documents.
    """

    words: Path | None = None
    epsilon: str | None = None
    votes: int | None = None
    pairs: bool = False
    labels: str | None = None
    per_user: int | None = None
    declare_data_dependent: bool = False

    def as_request(self) -> dict[str, object]:
        """As the coordinator takes it; what was not said is None."""
        labels = self.labels
        return {
            "words_file": None if self.words is None else str(self.words.absolute()),
            "epsilon": self.epsilon,
            "votes": self.votes,
            "what": "pairs" if self.pairs else None,
            "labels": None if labels is None else [each.strip() for each in labels.split(",")],
            "documents_per_user": self.per_user,
            "declare_data_dependent": self.declare_data_dependent or None,
        }


@dataclass(frozen=True)
class LossOptions(OptionGroup):
    """How many peers may fail the others.

    Args:
        drop: How many peers may be lost on the way.
        collude: How many peers may work against the others.
    """

    panel = "Who may be lost or collude"

    drop: int | None = None
    collude: int | None = None


@dataclass(frozen=True)
class ShownOptions(OptionGroup):
    """Which count is shown, and how much of it.

    Args:
        latest: Show this party's latest count again; costs no privacy.
        top: How many cells to show; 0: all.
        level: Confidence level of the intervals.
    """

    panel = "What is shown"

    latest: bool = False
    top: int = 20
    level: float = _LEVEL


def count(
    *,
    config: ConfigOption,
    asked: AskedOptions,
    loss: LossOptions,
    shown: ShownOptions,
    out: Path | None = None,
    wait: WaitOption = 0,
    as_json: AsJson = False,
) -> None:
    """Count words over all peers' documents; hides whole documents, and opens only sums.

    Each peer adds its share of the noise; the sum is pure differentially private for adding or
    removing a whole document. Options left out come from [count] in the coordinator's party.toml.
    Every peer first pays from its own ledger. It takes part only with the peers, the drop and the
    collude that [count_with] in its own party.toml names.

    Example: sottovoce learn count --config together/coordinator/party.toml --words words.txt

    Args:
        out: File for all cells: .csv, .jsonl, or .counts to keep the count.
    """
    kind = table_kind(out, _FORMATS)
    if not 0 < shown.level < 1 or shown.top < 0:
        raise ParameterError(
            f"--level must be between 0 and 1 and --top at least 0, got {shown.level} "
            f"and {shown.top}."
        )
    request = {**asked.as_request(), **vars(loss)}
    done = _ask_for_count(config, request, wait, latest=shown.latest)
    counted = _read_count(done)
    if out is not None:
        _write(out, kind, counted, shown.level)
    report = {name: value for name, value in done.items() if name != "counted"}
    if as_json:
        rows = counted.rows(shown.level, shown.top or None)
        show_json({**report, **_facts(counted, shown.level), "rows": rows})
    else:
        _show(report, counted, shown.level, shown.top)


def train_by_count(
    config: Path, epsilon: str, votes: int | None, *, wait: float, as_json: bool
) -> None:
    """Count words by label, which is a classifier; what is counted stands in [count]."""
    votes_said = {} if votes is None else {"votes": votes}
    request = {"do": "count", "epsilon": epsilon, "what": "words", "classifier": True, **votes_said}
    done = watch_run(config, request, "Counting", wait=wait)
    counted = _read_count(done)
    shown = {name: value for name, value in done.items() if name != "counted"}
    facts = _facts(counted, _LEVEL)
    if as_json:
        show_json({**shown, **facts})
        return
    show_summary(done)
    show_facts(
        "a classifier from words counted by label",
        {
            "labels": ", ".join(counted.labels),
            "documents of each, about": ", ".join(map(str, counted.document_totals.tolist())),
            "words": facts["words"],
            "votes of a document, at most": counted.votes,
            "peers in the sum": ", ".join(counted.survivors),
            f"noise within, {_LEVEL:.0%} of the time": facts["margin"],
        },
    )
    typer.echo(counted.guarantee.in_words())
    typer.echo("Each peer has it now: sottovoce learn classify TEXTS --config PEER/party.toml")


def _ask_for_count(
    config: Path, request: Mapping[str, Any], wait: float, *, latest: bool
) -> dict[str, Any]:
    said = {name: value for name, value in request.items() if value is not None}
    if not latest:
        return dict(watch_run(config, {"do": "count", **said}, "Counting", wait=wait))
    if said:
        raise ParameterError(
            f"--latest shows a count that was made: leave out {', '.join(sorted(said))}."
        )
    return dict(ask_or_read(config, {"do": "counted"}, wait=wait))


def _read_count(done: Mapping[str, Any]) -> "TogetherCounts":
    from sottovoce.learn.count.opened import TogetherCounts  # noqa: PLC0415 - keeps --help fast

    return TogetherCounts.from_bytes(bytes.fromhex(done["counted"]))


def _facts(counted: "TogetherCounts", level: float) -> dict[str, Any]:
    return {
        "what": counted.what,
        "words": len(counted.words),
        "labels": list(counted.labels),
        "documents": counted.documents,
        "votes": counted.votes,
        "epsilon": str(counted.epsilon),
        "survivors": list(counted.survivors),
        "variance": counted.variance,
        "level": level,
        "margin": counted.margin(level),
    }


def _show(done: Mapping[str, Any], counted: "TogetherCounts", level: float, top: int) -> None:
    if "leakage" in done:
        show_summary(done)
    facts = _facts(counted, level)
    show_facts(
        f"{counted.what} of all peers' documents",
        {
            "documents, about": round(counted.documents),
            "words": facts["words"],
            "labels": ", ".join(counted.labels) or None,
            "votes of a document, at most": counted.votes,
            "peers in the sum": ", ".join(counted.survivors),
            f"noise within, {level:.0%} of the time": facts["margin"],
        },
    )
    rows = counted.rows(level, top or None)
    show_rows(f"the largest cells, with {level:.0%} intervals of the votes", rows)
    typer.echo(counted.guarantee.in_words())


def _write(out: Path, kind: str, counted: "TogetherCounts", level: float) -> None:
    from sottovoce.files import whole_file  # noqa: PLC0415 - keeps --help fast

    with whole_file(out) as part:
        if kind == ".counts":
            part.write_bytes(counted.to_bytes())
        else:
            part.write_text(write_table(counted.rows(level), kind), encoding="utf-8")


def topics(
    counts: Path,
    *,
    out: Path,
    topics: int = 25,
    shortest: int = 2,
    top: int = 8,
    seed: int = 0,
    as_json: AsJson = False,
) -> None:
    """Find topics in word pairs that were counted together; costs no more privacy.

    The size of the noise is known, so it is clear which words occur together more often than
    noise explains. `assess --model` and `topics show` accept the model.

    Example: sottovoce learn topics pairs.counts --topics 25 --out model

    Args:
        counts: A count of pairs: learn count --out x.counts.
        out: Folder for the model.
        topics: How many topics to look for.
        shortest: Shortest word, in characters, as in the count.
        top: How many words of each topic to show.
        seed: The same seed gives the same result.
    """
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast

    check_folder(out)
    with needs_extra("learn"), needs_extra("topics"):
        from sottovoce.corpus.words.rules import TokenRules  # noqa: PLC0415 - keeps --help fast
        from sottovoce.learn.count.reading import counted_topics  # noqa: PLC0415 - keeps --help fast

        rules = TokenRules(shortest=shortest)
        with progress("Reading"):
            found = counted_topics(_read(counts), topics, seed=seed)
            found.save(out, rules)
    warning = found.warning()
    if warning is not None:
        typer.echo(f"warning: {warning}", err=True)
    _show_topics(found, out, top, as_json)


def _read(path: Path) -> "TogetherCounts":
    from sottovoce.corpus.read.bytes import check_file, readable  # noqa: PLC0415 - fast --help
    from sottovoce.learn.count.opened import TogetherCounts  # noqa: PLC0415 - keeps --help fast

    check_file(path)
    with readable(str(path)):
        data = path.read_bytes()
    return TogetherCounts.from_bytes(data)


def _show_topics(found: "CountedTopics", out: Path, top: int, as_json: bool) -> None:
    facts = {
        "topics": len(found.components),
        "words": len(found.words),
        "dimensions above the noise": found.dimensions,
        "folder": out,
    }
    if as_json:
        show_json(
            {
                "topics": found.top(top),
                "words": len(found.words),
                "dimensions": found.dimensions,
                "share": found.share,
                "held_out": found.held_out,
                "folder": str(out),
            }
        )
        return
    show_facts("Topics of all peers' documents", facts)
    show_rows("the largest first", found.top(top))

"""``sottovoce study`` and ``bench``, which the laboratory runs, ``evaluate`` and ``demo``."""

import shlex
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._groups import Only, OptionGroup
from sottovoce.cli._options import ReadingOptions, needs_extra
from sottovoce.cli._output import AsJson, progress, show_json, show_rows, show_study
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.assess.evaluation.runs import Comparison, Evaluated, Evaluation
    from sottovoce.assess.evaluation.significance import Interval


@dataclass(frozen=True)
class StudyData(OptionGroup):
    """What a study is made of; None leaves it to the study.

    Args:
        data: complaints, news, simulated, or a file of documents: text, label.
        documents: How many documents to use.
        embedding: Public word vectors, GloVe or word2vec.
        posts: Assess studies: your own posts (user, time, text).
        truth: Assess studies: who is sensitive (user, topic, ...).
        topics: Assess studies: your catalogue of topics, in TOML.
        model: Assess studies: a model of `topics train`.
        half: assess-blogs: development (default), test or all users.
        labels_column: assess-blogs: the posts' column of topics, a;b;c.
        votes: Judges' votes, for assess-table-1; may be repeated.
    """

    panel = "Your own data"

    data: str | None = None
    documents: int | None = None
    embedding: Path | None = None
    posts: Path | None = None
    truth: Path | None = None
    topics: Path | None = None
    model: list[Path] | None = None
    half: str | None = None
    labels_column: str | None = None
    votes: list[Path] | None = None


@dataclass(frozen=True)
class StudyParts(OptionGroup):
    """How much of some studies is run.

    Args:
        seconds: scale: about how long to measure; default: 180.
        rates: release-analyse: nats per word, as 2,1,0.5; default: all.
        readers: release-analyse: topics, classifiers, sums, settings; default: all.
    """

    panel = "Only some studies"

    seconds: float | None = None
    rates: str | None = None
    readers: str | None = None


def study(
    name: str,
    *,
    out: Path | None = None,
    data: StudyData,
    seeds: int | None = None,
    parts: StudyParts,
    quick: bool = False,
    reading: Annotated[ReadingOptions, Only("file_format", "fields", "header")],
    as_json: AsJson = False,
) -> None:
    """Reproduce a table or figure of the papers, with the paper's figures beside ours.

    `study list` names them. Each simulates or reads its data, repeats the experiment --seeds times
    and prints means with 95% intervals; --out also draws them. --quick takes small sizes, for a
    first look in seconds.

    Example: sottovoce study list

    Example: sottovoce study release-figure-1 --quick --data simulated --out study

    Args:
        name: 'list', or a name that it shows.
        out: Folder for rows.json, the figures and report.html.
        seeds: Repetitions behind each interval.
        quick: Small sizes: a look, not a result.
    """
    studies = _laboratory("studies")
    if name == "list":
        rows = studies.list_studies()
        if as_json:
            show_json(rows)
        for row in rows if not as_json else ():
            typer.echo(f"{row['study']:<20}{row['shows']}")
        return
    given = {"out": out, "seeds": seeds, "quick": quick, **vars(data), **vars(parts)}
    given |= {"format": reading.file_format, "fields": reading.fields, "header": reading.header}
    chosen, options, unused = studies.prepare_study(name, given, reading.to_read_options())
    if unused:
        typer.echo(f"{name} ignores {unused}.", err=True)
    with progress(f"Running study {name}"):
        result = chosen.runner(options)
    show_study(result, name=name, title=chosen.title, out=out, as_json=as_json)


def bench(
    name: str, *, size: float | None = None, out: Path | None = None, as_json: AsJson = False
) -> None:
    """Compare ours with its peers: same work, same run.

    A ratio above 1 means ours is better; --out draws the ratios. `bench list` shows what each does,
    its peers, and which peers are missing; `make peers` installs them.

    Example: sottovoce bench list

    Example: sottovoce bench tokenize --size 2

    Args:
        name: 'list', or a name that it shows.
        size: How much work; `bench list` shows of what, and how much by default.
        out: Folder for rows.json, a figure and report.html.
    """
    benches = _laboratory("benches")
    if name == "list":
        show = show_json if as_json else _show_benches
        show(benches.list_benches())
        return
    chosen = benches.bench_named(name)
    work = chosen.check_size(size)
    if absent := ", ".join(chosen.missing_peers()):
        typer.echo(f"Not installed: {absent}; to compare with it: make peers", err=True)
    with progress(f"Running bench {name}"), needs_extra(chosen.extra):
        rows = chosen.run(work)
    if out is not None:
        again = shlex.join(["sottovoce", *sys.argv[1:]])
        written = benches.draw_bench(name, rows, out, command=again)
        typer.echo(f"Wrote {', '.join(map(str, written))}.", err=True)
    if as_json:
        show_json(rows)
        return
    show_rows(f"bench {name}", [{key: row[key] for key in row if key != "bench"} for row in rows])
    for peer in dict.fromkeys(row["peer"] for row in rows if row["theirs"] is None):
        typer.echo(f"{peer} is not installed; to compare with it: make peers")


def _show_benches(rows: list[dict[str, str]]) -> None:
    show_rows("Benches: work by default, and what they compare with", rows)


def _laboratory(module: str) -> Any:  # noqa: ANN401 - a module of another distribution
    """A module of the laboratory, or one sentence that says how to install it."""
    try:
        import_module("sottovoce_lab")
    except ModuleNotFoundError:
        raise SottovoceError(
            "studies and benches are in sottovoce-lab. Run: pip install sottovoce-lab"
        ) from None
    with needs_extra("all"):
        return import_module(f"sottovoce_lab.{module}")


def demo(
    *,
    out: Path = Path("demo"),
    users: int = 1000,
    weeks: int = 26,
    seed: int = 0,
    as_json: AsJson = False,
) -> None:
    """Run everything on a simulated community and write a report that opens offline.

    Its steps: simulate people, count words, assess who stands out, release counts, train and count
    together, assess what was released, draw the report. If a part's libraries are not installed,
    the demo says so and leaves it out.

    Example: sottovoce demo --out demo

    Args:
        out: Folder for the community and report.html.
        users: People in the community.
        weeks: Weeks of history.
        seed: The same seed gives the same community.
    """
    from sottovoce.corpus.simulate.parameters import SimulationParameters  # noqa: PLC0415 - fast --help

    parameters = SimulationParameters(users=users, weeks=weeks, seed=seed)
    with needs_extra("all"):
        from sottovoce.demo.demo import run_demo  # noqa: PLC0415 - fast --help
    with progress("Running the demo"):
        made = run_demo(out, parameters)
    for part, reason in made.left_out.items():
        typer.echo(f"Left out: {part}: {reason}", err=True)
    if as_json:
        sizes = {"users": users, "weeks": weeks, "seed": seed}
        show_json({"report": made.report, **sizes, "left_out": made.left_out})
    else:
        typer.echo(f"The report is in {made.report} (open it in a browser; it works offline).")


def evaluate(
    ranks: Path,
    truth: Path,
    *,
    posts: Path | None = None,
    topics: Path | None = None,
    replicates: int = 1000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Judge rankings: R-precision, Prec@5, MAP and NDCG with 95% intervals, beside baselines.

    Metrics are exact means over all orders of tied users. Each measure is compared with each
    baseline: a paired t-test and a permutation test on per-user hits, and paired bootstrap.

    Example: sottovoce evaluate ranks.parquet community/truth.parquet
    --posts community/posts.parquet --topics community/topics.toml

    Args:
        ranks: ranks.parquet of `sottovoce assess`.
        truth: truth.parquet: user, topic, sensitive, grade.
        posts: Posts, to compare with how much people write.
        topics: The catalogue of topics, for the ENT baseline if the ranks lack it.
        replicates: Bootstrap draws behind an interval.
        seed: Seed of the bootstrap and permutations.
    """
    from sottovoce.assess.evaluation.runs import evaluate_ranks  # noqa: PLC0415 - fast --help

    with progress("Evaluating"):
        found = evaluate_ranks(
            ranks, truth, posts=posts, topics=topics, replicates=replicates, seed=seed
        )
    _warn(found)
    if as_json:
        show_json(found.record())
    else:
        _show(found)


def _warn(found: "Evaluation") -> None:
    """Say which baselines are not beside the measures, and how to get them."""
    names = {each.measure for each in found.measures}
    if "ent" not in names:
        typer.echo(
            "No ENT baseline: rank with assess --measure ent as well, or give --posts and "
            "--topics.",
            err=True,
        )
    if "posts" not in names:
        typer.echo(
            "No baselines of volume: give --posts. How much people write finds many by itself.",
            err=True,
        )


def _show(found: "Evaluation") -> None:
    title = (
        f"{found.sensitive:,} sensitive of {found.judged:,} judged pairs of user and topic, "
        f"{len(found.topics)} topics; each 95% interval holds by itself"
    )
    show_rows(title, [_row(each) for each in found.measures])
    for baseline in dict.fromkeys(each.baseline for each in found.comparisons):
        against = [
            _format_comparison(each) for each in found.comparisons if each.baseline == baseline
        ]
        show_rows(f"Gains over {baseline}", against)


def _row(each: "Evaluated") -> dict[str, object]:
    names = {
        "r_precision_micro": "R-prec micro",
        "r_precision_macro": "macro",
        "precision_at_5": "Prec@5",
        "map": "MAP",
        "ndcg": "NDCG",
    }
    name = f"({each.measure})" if each.baseline else each.measure
    row: dict[str, object] = {"measure": name}
    row |= {shown: _interval(each.metrics[key]) for key, shown in names.items()}
    if each.volume is not None:
        row["p, volume alike"] = _p(each.volume.p_value)
    return row


def _format_comparison(each: "Comparison") -> dict[str, object]:
    return {
        "measure": each.measure,
        "R-prec gain": f"{each.hits.difference:+.3f}",
        "p (t)": _p(each.hits.p_t),
        "p (perm.)": _p(each.hits.p_permutation),
        "p (Holm)": _p(each.p_holm),
        "MAP gain": f"{each.map.value:+.3f} [{each.map.low:+.3f}, {each.map.high:+.3f}]",
        "NDCG gain": f"{each.ndcg.value:+.3f} [{each.ndcg.low:+.3f}, {each.ndcg.high:+.3f}]",
    }


def _interval(interval: "Interval") -> str:
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"

"""``sottovoce study``, ``bench`` and ``demo``: what the package shows of itself."""

import math
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sottovoce.cli import _reading as formats
from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, progress, show_json, show_rows, show_study
from sottovoce.errors import ParameterError, check_choice

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sottovoce_lab.bench.rows import BenchRow


_OF_ONE_STUDY = {"half", "labels-column", "votes", "seconds", "rates", "readers"}


def study(
    name: Annotated[str, typer.Argument(help="'list', or a name that it shows.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows.json, the figures and report.html.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="complaints, news, simulated, or a file of documents: text, label."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Repetitions behind each interval.")] = None,
    documents: Annotated[int | None, typer.Option(help="How many documents to use.")] = None,
    embedding: Annotated[
        Path | None, typer.Option(help="Public word vectors, GloVe or word2vec.")
    ] = None,
    posts: Annotated[
        Path | None, typer.Option(help="Assess studies: your own posts (user, time, text).")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="Assess studies: who is sensitive (user, topic, ...).")
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="Assess studies: your catalogue of topics, in TOML.")
    ] = None,
    model: Annotated[
        list[Path] | None, typer.Option(help="Assess studies: a model of `topics train`.")
    ] = None,
    half: Annotated[
        str | None, typer.Option(help="assess-blogs: development (default), test or all users.")
    ] = None,
    labels_column: Annotated[
        str | None, typer.Option(help="assess-blogs: the posts' column of topics, a;b;c.")
    ] = None,
    votes: Annotated[
        list[Path] | None, typer.Option(help="Judges' votes, for assess-table-1; may be repeated.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="scale: about how long to measure; default: 180.")
    ] = None,
    rates: Annotated[
        str | None, typer.Option(help="release-analyse: nats per word, as 2,1,0.5; default: all.")
    ] = None,
    readers: Annotated[
        str | None,
        typer.Option(
            help="release-analyse: topics, classifiers, sums, settings; learn-count: topics, "
            "classes, processes; default: all."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: a look, not a result.")
    ] = False,
    file_format: formats.FormatOption = None,
    fields: formats.FieldsOption = None,
    header: formats.HeaderOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a table or figure of the papers again, the paper's figures beside ours.

    `study list` names them. Each simulates or reads its data, repeats the experiment --seeds times
    and prints means with 95% intervals; --out also draws them. --quick takes small sizes: minutes
    become seconds, and figures become a look.

    Example: sottovoce study list

    Example: sottovoce study release-figure-1 --quick --data simulated --out study
    """
    with needs_extra("all"):
        from sottovoce_lab.options import StudyOptions  # noqa: PLC0415 - fast --help
        from sottovoce_lab.studies import STUDIES, study_named  # noqa: PLC0415 - fast --help

    if name == "list":
        _show([{"study": key, "shows": each.title} for key, each in STUDIES.items()], as_json)
        return
    chosen = study_named(name)
    read = formats.read_options(file_format, fields, header, "UTC", "utf-8", formats.LONGEST)
    given = {
        "data": data, "seeds": seeds, "documents": documents, "embedding": embedding,
        "posts": posts, "truth": truth, "topics": topics, "model": model, "half": half,
        "labels-column": labels_column, "votes": votes, "seconds": seconds,
        "rates": rates, "readers": readers,
        "format": file_format, "fields": fields, "header": header,
    }  # fmt: skip
    _check_taken(name, {key for key, value in given.items() if value is not None}, chosen.takes)
    options = StudyOptions(
        seeds,
        documents,
        data,
        read,
        embedding,
        quick,
        votes=tuple(votes or ()),
        posts=posts,
        truth=truth,
        topics=topics,
        models=tuple(model or ()),
        half=half,
        labels_column=labels_column,
        seconds=seconds,
        rates=_exact_rates(rates),
        readers=readers,
        out=out,
    )
    with progress(f"Running study {name}"):
        result = chosen.runner(options)
    show_study(result, name=name, title=chosen.title, out=out, as_json=as_json)


def _exact_rates(rates: str | None) -> "tuple[Fraction, ...]":
    """Numbers with commas between them, taken exactly."""
    from sottovoce.privacy.exact import exact  # noqa: PLC0415 - keeps --help fast

    return tuple(exact(each.strip(), "rates") for each in rates.split(",")) if rates else ()


def _check_taken(name: str, given: set[str], taken: frozenset[str]) -> None:
    """Refuse what only another study can mean, and say what else has no effect on this one."""
    unused = sorted(given - taken)
    for option in unused:
        if option in _OF_ONE_STUDY:
            raise ParameterError(f"{name} takes no --{option}; leave it out.")
    if unused:
        shown = ", ".join(f"--{option}" for option in unused)
        typer.echo(f"{name} has no use for {shown}; it runs as without.", err=True)


def _show(rows: list[dict[str, str]], as_json: bool) -> None:
    if as_json:
        show_json(rows)
    else:
        for row in rows:
            typer.echo(f"{row['study']:<20}{row['shows']}")


def _tokenize(megabytes: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.tokenize import bench_tokenize  # noqa: PLC0415 - keeps --help fast

    rows = bench_tokenize(megabytes)
    if not any(row["case"].startswith("complaints") for row in rows):
        typer.echo("cfpb.jsonl is not in $SOTTOVOCE_DATA, so complaints are left out", err=True)
    return rows


def _noise(samples: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.noise import bench_noise  # noqa: PLC0415 - keeps --help fast

    return bench_noise(int(samples))


def _shares(cells: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.shares import bench_shares  # noqa: PLC0415 - keeps --help fast

    return bench_shares(int(cells))


def _release(documents: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.release import bench_release  # noqa: PLC0415 - keeps --help fast

    return bench_release(int(documents))


def _assess(posts: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.assess import bench_assess  # noqa: PLC0415 - keeps --help fast

    return bench_assess(int(posts))


def _infer(posts: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.infer import bench_infer  # noqa: PLC0415 - keeps --help fast

    return bench_infer(int(posts))


def _paillier(values: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.paillier import bench_paillier  # noqa: PLC0415 - keeps --help fast

    return bench_paillier(int(values))


def _learn(words: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.learn import bench_learn  # noqa: PLC0415 - keeps --help fast

    return bench_learn(int(words))


def _federation(words: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.federation import bench_federation  # noqa: PLC0415 - keeps --help fast

    return bench_federation(int(words))


def _advise(posts: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.advise import bench_advise  # noqa: PLC0415 - keeps --help fast

    return bench_advise(int(posts))


def _analyse(documents: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.analyse import bench_analyse  # noqa: PLC0415 - keeps --help fast

    return bench_analyse(int(documents))


def _vdaf(reports: float) -> "list[BenchRow]":
    from sottovoce_lab.bench.vdaf import bench_vdaf  # noqa: PLC0415 - keeps --help fast

    return bench_vdaf(int(reports))


class _Bench(NamedTuple):
    """A bench: what runs it, and what its size means."""

    run: "Callable[[float], list[BenchRow]]"
    unit: str
    size: float
    smallest: float
    extra: str = "release"
    peers: tuple[str, ...] = ()
    """The packages that it compares with, by the names they are imported by."""


BENCHES = {
    "tokenize": _Bench(_tokenize, "megabytes of text", 100, 0.01, peers=("sklearn",)),
    "noise": _Bench(_noise, "samples", 1e8, 1000, peers=("opendp",)),
    "shares": _Bench(_shares, "cells", 500_500, 1000),
    "release": _Bench(_release, "documents", 100_000, 100, peers=("opendp",)),
    "analyse": _Bench(_analyse, "documents", 100_000, 200, peers=("tomotopy",)),
    "infer": _Bench(_infer, "posts", 5000, 50, "topics", ("sklearn", "tomotopy", "gensim")),
    "assess": _Bench(_assess, "posts", 1_000_000, 1000, "topics", ("gensim", "pandas")),
    "paillier": _Bench(_paillier, "values", 4371, 64, "learn", ("phe", "heu", "tenseal")),
    "learn": _Bench(_learn, "words", 1000, 20, "learn", ("phe", "spu")),
    "federation": _Bench(_federation, "words", 1000, 20, "federation"),
    "advise": _Bench(_advise, "posts", 20_000, 100, "web"),
    "vdaf": _Bench(_vdaf, "reports", 1000, 20, "learn", ("gmpy2",)),
}


def bench(
    name: Annotated[str, typer.Argument(help=f"'list', or which bench: {', '.join(BENCHES)}.")],
    size: Annotated[
        float | None,
        typer.Option(help="How much work; `bench list` shows of what, and how much by default."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows.json, a figure and report.html.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare ours with its peers: same work, same run.

    A ratio above 1 means ours is better; --out draws the ratios. `bench list` says what each does,
    with which peers, and which of these are missing; `make peers` installs them.

    Example: sottovoce bench list

    Example: sottovoce bench tokenize --size 2
    """
    if name == "list":
        _list_benches(as_json)
        return
    check_choice("bench", name, BENCHES)
    chosen = BENCHES[name]
    if missing := _missing(chosen):
        absent = ", ".join(missing)
        typer.echo(f"Not installed: {absent}; to compare with it: make peers", err=True)
    with progress(f"Running bench {name}"), needs_extra(chosen.extra):
        rows = chosen.run(_checked(chosen.size if size is None else size, chosen))
    if out is not None:
        _draw_bench(name, rows, out)
    if as_json:
        show_json(rows)
        return
    shown = [{key: value for key, value in row.items() if key != "bench"} for row in rows]
    show_rows(f"bench {name}", shown)
    for peer in dict.fromkeys(row["peer"] for row in rows if row["theirs"] is None):
        typer.echo(f"{peer} is not installed; to compare with it: make peers")


def _missing(chosen: _Bench) -> list[str]:
    return [package for package in chosen.peers if find_spec(package) is None]


def _list_benches(as_json: bool) -> None:
    rows = [
        {
            "bench": name,
            "size": f"{each.size:,g} {each.unit}",
            "peers": ", ".join(each.peers) or "none",
            "missing": ", ".join(_missing(each)) or "none",
        }
        for name, each in BENCHES.items()
    ]
    if as_json:
        show_json(rows)
    else:
        show_rows("Benches: work by default, and what they compare with", rows)


def _draw_bench(name: str, rows: "list[BenchRow]", out: Path) -> None:
    from sottovoce_lab.bench.drawn import bench_result  # noqa: PLC0415 - fast --help

    from sottovoce.report.result import write_study  # noqa: PLC0415 - fast --help

    again = shlex.join(["sottovoce", *sys.argv[1:]])
    title = f"Ours and its peers: {BENCHES[name].unit}"
    written = write_study(bench_result(rows), out, name=name, title=title, command=again)
    typer.echo(f"Wrote {', '.join(map(str, written))}.", err=True)


def _checked(size: float, chosen: _Bench) -> float:
    if not chosen.smallest <= size < math.inf:
        raise ParameterError(
            f"--size must be at least {chosen.smallest:,g} {chosen.unit}, got {size:,g}."
        )
    return size


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the community and report.html.")] = Path(
        "demo"
    ),
    users: Annotated[int, typer.Option(help="People in the community.")] = 1000,
    weeks: Annotated[int, typer.Option(help="Weeks of history.")] = 26,
    seed: Annotated[int, typer.Option(help="The same seed gives the same community.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run everything on a simulated community and write a report that opens offline.

    Its steps: simulate people, count words, assess who stands out, release counts, train and count
    together, assess what was released, draw the report. A part whose libraries are not installed is
    left out, and that is said.

    Example: sottovoce demo --out demo
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

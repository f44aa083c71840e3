"""``sottovoce evaluate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli._output import AsJson, progress, show_json, show_rows
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sottovoce.assess.evaluation import Comparison, Evaluated, Evaluation, Interval
    from sottovoce.assess.evaluation.trec import Levels


LEVELS = ("grades", "sensitive")


def evaluate(
    ranks: Annotated[
        Path, typer.Argument(help="ranks.parquet of `sottovoce assess`, or a TREC run.")
    ],
    truth: Annotated[
        Path, typer.Argument(help="truth.parquet (user, topic, sensitive, grade), or .qrels.")
    ],
    posts: Annotated[
        Path | None, typer.Option(help="Posts, for the baselines of volume and the test by it.")
    ] = None,
    topics: Annotated[
        Path | None,
        typer.Option(help="The catalogue, for the ENT baseline where the ranks lack it."),
    ] = None,
    level: Annotated[int, typer.Option(help="Of qrels: the least level of a sensitive user.")] = 1,
    qrels_out: Annotated[Path | None, typer.Option(help="Write the truth as TREC qrels.")] = None,
    qrels_levels: Annotated[
        str, typer.Option(help="grades (in hundredths) or sensitive (1 and 0).")
    ] = "grades",
    run_out: Annotated[
        Path | None,
        typer.Option(help="Write the ranks as a TREC run; several measures, into a folder."),
    ] = None,
    replicates: Annotated[int, typer.Option(help="Bootstrap draws behind an interval.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of bootstrap and permutations.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Judge rankings: R-precision, Prec@5, MAP and NDCG with 95% intervals, beside baselines.

    Metrics are exact means over all orders of tied users. Each measure is compared with each
    baseline: a paired t-test and a permutation test on per-user hits, and paired bootstrap.

    Example: sottovoce evaluate ranks.parquet community/truth.parquet
    --posts community/posts.parquet --topics community/topics.toml
    """
    from sottovoce.assess import evaluation  # noqa: PLC0415 - keeps --help fast
    from sottovoce.assess.evaluation.judged import read_judgements, read_ranks  # noqa: PLC0415 - fast --help
    from sottovoce.files import refuse_overlap  # noqa: PLC0415 - keeps --help fast

    if qrels_levels not in LEVELS:
        raise ParameterError(f"--qrels-levels must be grades or sensitive, got {qrels_levels!r}.")
    refuse_overlap((qrels_out, run_out), (ranks, truth, posts, topics))
    with progress("Reading ranks and truth"):
        ranked, known = read_ranks(ranks), read_judgements(truth, level)
    with progress("Evaluating"):
        found = evaluation.evaluate_ranks(
            ranked, known, posts=posts, topics=topics, replicates=replicates, seed=seed
        )
    _write(known, ranked, qrels_out, cast("Levels", qrels_levels), run_out)
    _warn(found)
    if as_json:
        show_json(found.record())
    else:
        _show(found)


def _write(
    truth: "pa.Table",
    ranks: "pa.Table",
    qrels_out: Path | None,
    levels: "Levels",
    run_out: Path | None,
) -> None:
    from sottovoce.assess.evaluation.trec import write_qrels, write_runs  # noqa: PLC0415 - fast --help

    if qrels_out is not None:
        cut = write_qrels(truth, qrels_out, levels)
        typer.echo(f"Wrote {qrels_out}: sensitive users have level {cut} or more.", err=True)
    if run_out is not None:
        typer.echo(f"Wrote {', '.join(map(str, write_runs(ranks, run_out)))}.", err=True)


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
        against = [_compared(each) for each in found.comparisons if each.baseline == baseline]
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


def _compared(each: "Comparison") -> dict[str, object]:
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

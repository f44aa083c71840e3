"""``sottovoce evaluate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._output import AsJson, progress, show_json, show_rows

if TYPE_CHECKING:
    from sottovoce.assess.evaluation.runs import Comparison, Evaluated, Evaluation
    from sottovoce.assess.evaluation.significance import Interval


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
        posts: Posts, for the baselines of volume and the test by it.
        topics: The catalogue, for the ENT baseline where the ranks lack it.
        replicates: Bootstrap draws behind an interval.
        seed: Of bootstrap and permutations.
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

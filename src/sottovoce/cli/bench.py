"""``sottovoce bench``."""

import math
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.shown import AsJson, progress, show_json, show_rows
from sottovoce.errors import ParameterError, check_choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from sottovoce.bench.rows import BenchRow


def _tokenize(megabytes: float) -> "list[BenchRow]":
    from sottovoce.bench.tokenize import bench_tokenize  # noqa: PLC0415 - keeps --help fast

    rows = bench_tokenize(megabytes)
    if not any(row["case"].startswith("complaints") for row in rows):
        typer.echo("cfpb.jsonl is not in $SOTTOVOCE_DATA, so complaints are left out", err=True)
    return rows


def _noise(samples: float) -> "list[BenchRow]":
    from sottovoce.bench.noise import bench_noise  # noqa: PLC0415 - keeps --help fast

    return bench_noise(int(samples))


def _release(documents: float) -> "list[BenchRow]":
    from sottovoce.bench.release import bench_release  # noqa: PLC0415 - keeps --help fast

    return bench_release(int(documents))


def _assess(posts: float) -> "list[BenchRow]":
    from sottovoce.bench.assess import bench_assess  # noqa: PLC0415 - keeps --help fast

    return bench_assess(int(posts))


def _infer(posts: float) -> "list[BenchRow]":
    from sottovoce.bench.infer import bench_infer  # noqa: PLC0415 - keeps --help fast

    return bench_infer(int(posts))


def _paillier(values: float) -> "list[BenchRow]":
    from sottovoce.bench.paillier import bench_paillier  # noqa: PLC0415 - keeps --help fast

    return bench_paillier(int(values))


def _learn(words: float) -> "list[BenchRow]":
    from sottovoce.bench.learn import bench_learn  # noqa: PLC0415 - keeps --help fast

    return bench_learn(int(words))


def _federation(words: float) -> "list[BenchRow]":
    from sottovoce.bench.federation import bench_federation  # noqa: PLC0415 - keeps --help fast

    return bench_federation(int(words))


def _advise(posts: float) -> "list[BenchRow]":
    from sottovoce.bench.advise import bench_advise  # noqa: PLC0415 - keeps --help fast

    return bench_advise(int(posts))


class _Bench(NamedTuple):
    """A bench: what runs it, and what its size means."""

    run: "Callable[[float], list[BenchRow]]"
    unit: str
    size: float
    smallest: float
    extra: str = "release"


BENCHES = {
    "tokenize": _Bench(_tokenize, "megabytes of text", 100, 0.01),
    "noise": _Bench(_noise, "samples", 1e8, 1000),
    "release": _Bench(_release, "documents", 100_000, 100),
    "infer": _Bench(_infer, "posts", 5000, 50, "topics"),
    "assess": _Bench(_assess, "posts", 100_000, 1000, "topics"),
    "paillier": _Bench(_paillier, "values", 4371, 64, "learn"),
    "learn": _Bench(_learn, "words", 1000, 20, "learn"),
    "federation": _Bench(_federation, "words", 1000, 20, "federation"),
    "advise": _Bench(_advise, "posts", 20_000, 100, "web"),
}
_SIZES = "; ".join(f"{each.unit} ({name}, {each.size:,g})" for name, each in BENCHES.items())


def bench(
    name: Annotated[str, typer.Argument(help=f"Which bench: {', '.join(BENCHES)}.")],
    size: Annotated[float | None, typer.Option(help=f"How much work: {_SIZES}.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare ours with its peers: same work, same run.

    A ratio above 1 means ours is better. `make peers` installs the peers.

    Example: sottovoce bench tokenize --json
    """
    check_choice("bench", name, BENCHES)
    chosen = BENCHES[name]
    with progress(f"Running bench {name}"), needs_extra(chosen.extra):
        rows = chosen.run(_checked(chosen.size if size is None else size, chosen))
    if as_json:
        show_json(rows)
        return
    shown = [{key: value for key, value in row.items() if key != "bench"} for row in rows]
    show_rows(f"bench {name}", shown)
    for peer in dict.fromkeys(row["peer"] for row in rows if row["theirs"] is None):
        typer.echo(f"{peer} is not installed; to compare with it: make peers")


def _checked(size: float, chosen: _Bench) -> float:
    if not chosen.smallest <= size < math.inf:
        raise ParameterError(
            f"--size must be at least {chosen.smallest:,g} {chosen.unit}, got {size:,g}."
        )
    return size

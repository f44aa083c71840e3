"""What the numbers of a study say, in a sentence."""

from collections.abc import Callable, Sequence

from sottovoce.study.result import Row, number


def compared_with_none(rows: Sequence[Row], score: str) -> str:
    """At which true rates compression beats no compression, and the reverse.

    Clearly: the 95% intervals of the best compressed method and of none do not overlap.
    """
    if number(rows[0], "seeds") == 1:
        return "one seed gives no interval, so that nothing can be compared"
    better, worse, neither = _sorted_rates(rows, score)
    parts = [
        f"compression is clearly better at {_listed(better)}" if better else "",
        f"no compression is clearly better at {_listed(worse)}" if worse else "",
        f"their intervals overlap at {_listed(neither)}" if neither else "",
    ]
    return "; ".join(part for part in parts if part)


def rates_where(rows: Sequence[Row], holds: Callable[[Row], bool]) -> str:
    """The true rates at which ``holds`` is true of some method, in words."""
    found = sorted({number(row, "rate") for row in rows if holds(row)}, reverse=True)
    return _listed(found) if found else "no rate"


def _sorted_rates(rows: Sequence[Row], score: str) -> tuple[list[float], list[float], list[float]]:
    better, worse, neither = [], [], []
    for rate in sorted({number(row, "rate") for row in rows}, reverse=True):
        there = [row for row in rows if row["rate"] == rate]
        plain = [row for row in there if row["method"] == "none"]
        packed = [row for row in there if row["method"] != "none"]
        if not plain or not packed:
            continue
        best = max(packed, key=lambda row: number(row, score))
        if number(best, f"{score}_low") > number(plain[0], f"{score}_high"):
            better.append(rate)
        elif number(best, f"{score}_high") < number(plain[0], f"{score}_low"):
            worse.append(rate)
        else:
            neither.append(rate)
    return better, worse, neither


def _listed(rates: Sequence[float]) -> str:
    return ("rate " if len(rates) == 1 else "rates ") + ", ".join(f"{rate:.3g}" for rate in rates)

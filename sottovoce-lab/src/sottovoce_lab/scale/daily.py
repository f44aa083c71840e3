"""What a day's posts cost a community that is kept, by the size of the community.

For each community, days of the same number of posts are added to its state one after another, in a
process of its own. A day should cost what its posts cost: the time, and the bytes read and written,
of a median day must not grow with the community. The largest day is one on which parts are joined.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean, median

from sottovoce.report.result import Row, StudyResult
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.scale._daily import RANKED, Days, Step, measure_days

SHOWN = ("users", "what", "seconds", "cpu_seconds", "read_mb", "written_mb", "state_mb", "parts")
_MB = 1e6
_POSTS_OF_A_USER = 28


@dataclass(frozen=True)
class DailyScaleSizes:
    """What is measured."""

    users: tuple[int, ...] = (10_000, 30_000, 107_000)
    topics: int = 200
    days: int = 40
    day_posts: int = 10_000
    day_users: int = 5_000


QUICK = DailyScaleSizes(users=(300, 900), topics=20, days=3, day_posts=60, day_users=30)


def run_scale_daily(options: StudyOptions) -> StudyResult:
    """The study as a command."""
    sizes = QUICK if options.quick else DailyScaleSizes()
    rows, loads = list[Row](), list[float]()
    for users in sizes.users:
        days = Days(
            users,
            users * _POSTS_OF_A_USER,
            sizes.topics,
            sizes.days,
            sizes.day_posts,
            min(sizes.day_users, users // 2),
        )
        with tempfile.TemporaryDirectory() as folder:
            steps = measure_days(days, Path(folder))
        rows += _rows(steps)
        loads += [step.load for step in steps]
    note = (
        f"{sizes.days} days of {sizes.day_posts:,} posts by at most {sizes.day_users:,} users, "
        f"{sizes.topics} topics; load average {min(loads):.1f} to {max(loads):.1f}."
    )
    return StudyResult(tuple(rows), (), SHOWN, (note,))


def _rows(steps: Sequence[Step]) -> Iterator[Row]:
    """The days of one community, summed up, and its ranking."""
    by_day = [list(day) for _, day in groupby(steps, key=lambda step: step.day)]
    totals = [_total(day) for day in by_day if day[0].step != RANKED]
    chosen = {
        "median day": [median(values) for values in zip(*totals, strict=True)],
        "mean day": [fmean(values) for values in zip(*totals, strict=True)],
        "largest day": [max(values) for values in zip(*totals, strict=True)],
    }
    for name in dict.fromkeys(step.step for step in steps):
        each = [_total([step]) for step in steps if step.step == name]
        chosen[name] = [median(values) for values in zip(*each, strict=True)]
    last = steps[-1]
    for what, (seconds, cpu_s, read, written) in chosen.items():
        yield {
            "users": last.users,
            "what": what,
            "seconds": float(seconds),
            "cpu_seconds": float(cpu_s),
            "read_mb": read / _MB,
            "written_mb": written / _MB,
            "state_mb": last.state_bytes / _MB,
            "parts": last.parts,
        }


def _total(steps: Sequence[Step]) -> tuple[float, float, int, int]:
    return (
        sum(step.seconds for step in steps),
        sum(step.cpu_s for step in steps),
        sum(step.read_bytes for step in steps),
        sum(step.written_bytes for step in steps),
    )

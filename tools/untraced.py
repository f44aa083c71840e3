"""Write tests/untraced.txt: the dear tests whose lines cheaper ones trace as well.

Tracing for coverage makes a test up to twice as slow. From a run that noted which test passed
which lines, take every cheap test, then of the dear ones those that add most lines for their time,
until nearly all that the whole run passed is passed again; the rest is listed. A test that is
not listed is traced, so a new one always is. To choose again:

    pytest -n 3 -m "not long" --cov --cov-context=test --cov-report= --costs costs.json
    python tools/untraced.py .coverage costs.json
"""

import json
import sqlite3
import sys
from collections import defaultdict
from heapq import heapify, heappop, heappush
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from support.tracing import is_repeated  # noqa: E402 - found by the line above

LIST = TESTS / "untraced.txt"
DEAR_S = 0.2
"""Processor seconds of a test function, all its parameters together."""
SHARE_PASSED = 0.994
Arcs = dict[str, set[int]]


def passed_by_test(coverage_file: Path) -> Arcs:
    """Numbered steps from line to line, by the test function that made them; '' at imports.

    Without the tests that are never traced in an ordinary run.
    """
    rows = sqlite3.connect(coverage_file).execute(
        "select context, arc.file_id, fromno, tono from arc join context on context.id = context_id"
    )
    numbers: dict[tuple[int, int, int], int] = {}
    found: Arcs = defaultdict(set)
    for context, *arc in rows:
        name = _function(context.partition("|")[0])
        if name and is_repeated(Path(name.partition("::")[0]).relative_to("tests")):
            continue
        step = (arc[0], arc[1], arc[2])
        found[name].add(numbers.setdefault(step, len(numbers)))
    return found


def cost_by_test(costs_file: Path) -> dict[str, float]:
    """Processor seconds of each test function."""
    found: dict[str, float] = defaultdict(float)
    for name, (processor_s, _) in json.loads(costs_file.read_text())["tests"].items():
        found[_function(name)] += processor_s
    return found


def redundant(passed: Arcs, cost: dict[str, float]) -> list[str]:
    """The dear tests that need not be traced."""
    everything = set[int]().union(*passed.values())
    dear = {name for name in passed if cost.get(name, 0.0) >= DEAR_S}
    seen = set[int]().union(*(steps for name, steps in passed.items() if name not in dear))
    waiting = [(float("-inf"), name) for name in sorted(dear)]
    heapify(waiting)
    while waiting and len(seen) < SHARE_PASSED * len(everything):
        _, name = heappop(waiting)
        gain = len(passed[name] - seen) / cost[name]
        # What others have passed meanwhile is no gain any more.
        if waiting and -gain > waiting[0][0]:
            heappush(waiting, (-gain, name))
        else:
            seen |= passed[name]
    return sorted(name for _, name in waiting)


def _function(test: str) -> str:
    return test.partition("[")[0]


if __name__ == "__main__":
    coverage_file, costs_file = map(Path, sys.argv[1:])
    names = redundant(passed_by_test(coverage_file), cost_by_test(costs_file))
    LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    sys.stdout.write(f"{len(names)} tests are not traced\n")

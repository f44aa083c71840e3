"""The paper's two secure solvers on encrypted rados, beside the exact solve that we run instead.

Private Text Classification, section 2.5: gradient descent on the exponential loss (Problem 1) and
the closed form of eq. 14 (Protocol 4), both between a holder of ciphertexts and a holder of the
key. Each is compared with its twin in clear, and with the masked solve of the very integers.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.learn.paillier.keys import PrivateKey, generate_key
from sottovoce.learn.rados.rados import RadoMaker
from sottovoce.learn.solve.masked import answer_masked, ask_masked
from sottovoce.learn.solve.plan import PublicBounds, plan_solve
from sottovoce.learn.wire.exchange import Traffic
from sottovoce.learn.wire.stages import run_together
from sottovoce.report.page import COLOURS, Plot, legend_below, new_panels
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab.bench.rows import best_time
from sottovoce_lab.learn.data import Examples, ionosphere
from sottovoce_lab.learn.paper.solvers import Descent, solve_rados
from sottovoce_lab.learn.paper.two_parties import TwoParties
from sottovoce_lab.learn.systems import IntegerSystem, opened_theta
from sottovoce_lab.options import StudyOptions, study_notes

SHOWN = ("solver", "features", "seconds", "megabytes", "rounds", "off_by", "same_labels")
PROTOCOL_4, DESCENT, MASKED = "Protocol 4", "descent", "exact solve"
_PLACES = 16
_WEIGHT = 0.1


@dataclass(frozen=True)
class SolverStudySizes:
    """What to run; a smaller key and fewer features for a quick look."""

    features: tuple[int, ...] = (2, 4, 8, 16)
    rados: int = 20
    steps: int = 10
    key_bits: int = 2048


QUICK = SolverStudySizes(features=(2, 3), rados=6, steps=2)


class Solved(NamedTuple):
    """What a solver found under encryption, its twin in clear, and what it cost."""

    theta: Floats
    twin: Floats
    traffic: Traffic
    seconds: float


def run_learn_solvers(options: StudyOptions) -> StudyResult:
    """Gradient descent and the closed form on encrypted rados, beside the exact solve."""
    return run(ionosphere(), QUICK if options.quick else SolverStudySizes())


def run(examples: Examples, sizes: SolverStudySizes) -> StudyResult:
    """Every solver at every number of features, on the same rados."""
    key, second = generate_key(sizes.key_bits), generate_key(sizes.key_bits)
    rows: list[Row] = []
    for features in sizes.features:
        given = _standardise_columns(examples.rows, features)
        rados = _scaled_rados(given, examples.signs, sizes.rados)
        solved = {
            PROTOCOL_4: _closed_form(rados, key),
            DESCENT: _descent(rados, sizes.steps, key),
            MASKED: _solve_masked(rados, (second, key)),
        }
        rows += [_row(name, found, given, examples.signs) for name, found in solved.items()]
    return StudyResult(tuple(rows), (_plot(rows),), SHOWN, _notes(sizes), ("error", "error_plain"))


def _standardise_columns(rows: Floats, features: int) -> Floats:
    """The first columns that vary, each with mean 0 and deviation 1."""
    chosen = rows[:, rows.std(axis=0) > 0][:, :features]
    standard: Floats = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    return standard


def _scaled_rados(rows: Floats, signs: Floats, count: int) -> Floats:
    """Rados of norm 1 at most, as the descent's bounds need."""
    rados = RadoMaker(rows, signs).sample(count)
    scaled: Floats = rados / np.linalg.norm(rados, axis=1).max()
    return scaled


def _closed_form(rados: Floats, key: PrivateKey) -> Solved:
    """Eq. 14, (B B' + n Gamma)^-1 B 1, by Newton's steps on ciphertexts."""
    parties, columns = TwoParties(key), rados.T
    hidden = parties.encrypt(columns, 1.0, _PLACES)
    weights = np.full(len(columns), _WEIGHT)
    seconds, theta = best_time(lambda: solve_rados(parties, hidden, weights), 1, time.process_time)
    return Solved(parties.decrypt(theta), _plain_closed_form(columns), parties.traffic, seconds)


def _plain_closed_form(columns: Floats) -> Floats:
    rounded = np.ldexp(np.rint(np.ldexp(columns, _PLACES)), -_PLACES)
    ridge = rounded.shape[1] * _WEIGHT * np.eye(len(rounded))
    theta: Floats = np.linalg.solve(rounded @ rounded.T + ridge, rounded.sum(axis=1))
    return theta


def _descent(rados: Floats, steps: int, key: PrivateKey) -> Solved:
    parties, descent = TwoParties(key), Descent(norm=1.0, weight=_WEIGHT, steps=steps)
    hidden = descent.encrypt(parties, rados)
    seconds, theta = best_time(lambda: descent.run(parties, hidden), 1, time.process_time)
    return Solved(parties.decrypt(theta), descent.run_in_clear(rados), parties.traffic, seconds)


def _solve_masked(rados: Floats, keys: tuple[PrivateKey, PrivateKey]) -> Solved:
    """The system of eq. 14 once more, in integers and without an approximation."""
    columns = rados.T
    whole = np.rint(np.ldexp(columns, _PLACES)).astype(int).astype(object)
    size, count = columns.shape
    places = 2 * _PLACES
    ridge = round(count * _WEIGHT * 2**places)
    matrix = whole @ whole.T + ridge * np.eye(size, dtype=object)
    vector = [int(each) << _PLACES for each in whole.sum(axis=1)]
    system = IntegerSystem([[int(x) for x in row] for row in matrix], vector, places)
    bounds = PublicBounds(
        size,
        places,
        entry=(count << places) + ridge,
        trace=size * ((count << places) + ridge),
        right=count << places,
    )
    plan = plan_solve(bounds, key_bits=keys[0].public.bits, score=1, determinant=True)
    own, held = keys
    numbers = system.encrypt(plan.slots, held.public)
    begin = time.process_time()
    found = run_together(ask_masked(plan, own, *numbers), answer_masked(plan, held))
    seconds = time.process_time() - begin
    theta = opened_theta(found.asked, found.answered)
    return Solved(theta, _plain_closed_form(columns), found.traffic, seconds)


def _row(name: str, solved: Solved, rows: Floats, signs: Floats) -> Row:
    labels, plain = (np.sign(rows @ theta) for theta in (solved.theta, solved.twin))
    return {
        "solver": name,
        "features": rows.shape[1],
        "seconds": solved.seconds,
        "megabytes": solved.traffic.bytes / 1e6,
        "rounds": solved.traffic.rounds,
        "off_by": float(np.abs(solved.theta - solved.twin).max()),
        "same_labels": float((labels == plain).mean()),
        "error": float((labels != signs).mean()),
        "error_plain": float((plain != signs).mean()),
    }


def _plot(rows: list[Row]) -> Plot:
    figure, panels = new_panels(2, width=8.0, height=3.4)
    for panel, (name, label) in zip(
        panels, (("seconds", "processor time, s"), ("megabytes", "MB sent")), strict=True
    ):
        for colour, solver in zip(COLOURS, (PROTOCOL_4, DESCENT, MASKED), strict=False):
            own = [row for row in rows if row["solver"] == solver]
            at = [number(row, "features") for row in own]
            panel.loglog(at, [number(row, name) for row in own], "o-", color=colour, label=solver)
        panel.set(xlabel="features", ylabel=label)
    legend_below(figure, 3)
    finding = _finding(rows)
    return Plot(figure, finding, f"Two panels over the number of features. {finding}")


def _finding(rows: list[Row]) -> str:
    most = max(number(row, "features") for row in rows)
    cost = {str(row["solver"]): number(row, "seconds") for row in rows if row["features"] == most}
    furthest = max(number(row, "off_by") for row in rows)
    return (
        f"All three give the theta of their twins in clear, within {furthest:.0e}. With {most:.0f} "
        f"features the exact solve takes {cost[MASKED]:.2g} s of processor time, Protocol 4 "
        f"{cost[PROTOCOL_4] / cost[MASKED]:.0f} times that and the descent "
        f"{cost[DESCENT] / cost[MASKED]:.0f} times."
    )


def _notes(sizes: SolverStudySizes) -> tuple[str, ...]:
    return (
        (
            f"{sizes.rados} rados of Ionosphere's first columns, {sizes.key_bits}-bit keys, both "
            f"parties' processor time; the descent takes {sizes.steps} steps. Making keys and "
            "encrypting rados are not timed."
        ),
        *study_notes("learn-solvers"),
    )

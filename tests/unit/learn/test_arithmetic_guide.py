"""The guide to secure arithmetic says what the code does."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.leakage_page import LINK, is_shown
from support.secure_arithmetic import KEY, WIDE_KEY, hidden, hidden_numbers

from sottovoce.learn.arithmetic import comparison, sign
from sottovoce.learn.arithmetic.shown import Outline
from sottovoce.learn.arithmetic.sign import (
    SharedNumbers,
    answer_positive,
    answer_shared_positive,
    ask_positive,
    ask_shared_positive,
)
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import encrypt_integers
from sottovoce.learn.paper import _functions as functions
from sottovoce.learn.paper import _inverse as inverse
from sottovoce.learn.paper import _products as products
from sottovoce.learn.paper import descent, rado_solver
from sottovoce.learn.paper._functions import ExponentialPlan, answer_exponential, ask_exponential
from sottovoce.learn.paper._products import (
    answer_inner_product,
    answer_matrix_product,
    answer_multiplication,
    answer_outer_product,
    answer_rescaling,
    answer_unpacking,
    ask_inner_product,
    ask_matrix_product,
    ask_multiplication,
    ask_outer_product,
    ask_rescaling,
    ask_unpacking,
)
from sottovoce.learn.wire.machine import Leakage
from sottovoce.learn.wire.script import PairRun, run_together

if TYPE_CHECKING:
    from sottovoce.learn.arithmetic.comparison import Told

GUIDE = (Path(__file__).parents[3] / "docs" / "explanation" / "learn-arithmetic.md").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize(
    "leakage",
    [
        products.PRODUCT_LEAKAGE,
        products.RESCALING_LEAKAGE,
        comparison.LEAKAGE,
        sign.LEAKAGE,
        functions.EXPONENTIAL_LEAKAGE,
        functions.LOGARITHM_LEAKAGE,
        inverse.LEAKAGE,
        descent.LEAKAGE,
        rado_solver.INTERACTIVE_LEAKAGE,
    ],
)
def test_the_page_of_leakage_shows_every_protocol_of_the_guide(leakage: Leakage) -> None:
    assert is_shown(leakage)
    assert LINK in GUIDE


def stated_rounds(protocol: str) -> str:
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| {protocol} |"))
    return row.split("|")[3].strip()


def runs() -> dict[str, PairRun[object, object]]:
    (x, of_x), (y, of_y) = hidden([1, 2], 9), hidden([3, -4], 9)
    (m, of_m), packed_plan = hidden([[1, 2]], 9), plan_slots(Program.of(9).masked(), key_bits=512)
    places = Outline((2,), 9, 3)
    fine = encrypt_integers([1, 2], places.plan(512), KEY)
    packed = encrypt_integers([1, 2], packed_plan, KEY)
    exponents, of_exponents = hidden_numbers([0.5], 1.0, 8)
    plan, shared = ExponentialPlan(of_exponents, 8), SharedNumbers(1, 1 << 80, 9)
    share = np.array([5], dtype=object)
    to: Told = "ciphertext holder"
    return {
        "S.MULT": run_together(
            ask_multiplication(x, y, of_x, of_y), answer_multiplication(of_x, of_y, KEY)
        ),
        "S.INNERPROD": run_together(
            ask_inner_product(x, y, of_x, of_y), answer_inner_product(of_x, of_y, KEY)
        ),
        "S.OUTERPROD": run_together(
            ask_outer_product(x, y, of_x, of_y), answer_outer_product(of_x, of_y, KEY)
        ),
        "S.MATPROD": run_together(
            ask_matrix_product(m, x.reshape(2, 1), of_m, Outline((2, 1), 9)),
            answer_matrix_product(of_m, Outline((2, 1), 9), KEY),
        ),
        "rescaling": run_together(ask_rescaling(fine, places, 2), answer_rescaling(places, 2, KEY)),
        "unpacking": run_together(
            ask_unpacking(packed, of_x), answer_unpacking(of_x, packed_plan, KEY)
        ),
        "sign": run_together(ask_positive(x, of_x, told=to), answer_positive(of_x, KEY, told=to)),
        "sign of shares": run_together(
            ask_shared_positive(share, shared, KEY.public, told=to),
            answer_shared_positive(share, shared, KEY, told=to),
        ),
        "S.EXP": run_together(ask_exponential(exponents, plan), answer_exponential(plan, WIDE_KEY)),
    }


def test_the_guide_states_the_rounds_that_protocols_take() -> None:
    """Those of S.LOG and S.INV are tested with their results."""
    found = {name: str(run.traffic.rounds) for name, run in runs().items()}
    assert found == {name: stated_rounds(name) for name in found}
    assert stated_rounds("S.LOG") == "8 a step"
    assert stated_rounds("S.INV") == stated_rounds("S.INV, packed") == "4 a step, and 2"


def test_the_guides_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = GUIDE.split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn-arithmetic.md", "exec"), {})  # noqa: S102 - our own guide
    assert capsys.readouterr().out.startswith("[1 0 0] 4 ")

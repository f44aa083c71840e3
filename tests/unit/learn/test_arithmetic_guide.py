"""The guide to secure arithmetic says what the code does."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.leakage_page import LINK, is_shown
from support.secure_arithmetic import KEY, hidden

from sottovoce.learn.arithmetic import comparison, sign
from sottovoce.learn.arithmetic.sign import (
    SharedNumbers,
    answer_positive,
    answer_shared_positive,
    ask_positive,
    ask_shared_positive,
)
from sottovoce.learn.wire.message import Leakage
from sottovoce.learn.wire.script import PairRun, run_together

if TYPE_CHECKING:
    from sottovoce.learn.arithmetic.comparison import Told

GUIDE = (Path(__file__).parents[3] / "docs" / "explanation" / "learn-arithmetic.md").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize(
    "leakage",
    [
        comparison.LEAKAGE,
        sign.LEAKAGE,
    ],
)
def test_the_page_of_leakage_shows_every_protocol_of_the_guide(leakage: Leakage) -> None:
    assert is_shown(leakage)
    assert LINK in GUIDE


def stated_rounds(protocol: str) -> str:
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| {protocol} |"))
    return row.split("|")[3].strip()


def runs() -> dict[str, PairRun[object, object]]:
    x, of_x = hidden([1, 2], 9)
    shared, share = SharedNumbers(1, 1 << 75, 9), np.array([5], dtype=object)
    to: Told = "ciphertext holder"
    return {
        "sign": run_together(ask_positive(x, of_x, told=to), answer_positive(of_x, KEY, told=to)),
        "sign of shares": run_together(
            ask_shared_positive(share, shared, KEY.public, told=to),
            answer_shared_positive(share, shared, KEY, told=to),
        ),
    }


def test_the_guide_states_the_rounds_that_protocols_take() -> None:
    found = {name: str(run.traffic.rounds) for name, run in runs().items()}
    assert found == {name: stated_rounds(name) for name in found}


def test_the_guides_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = GUIDE.split("```python\n")[1].split("```")[0]
    exec(compile(code, "learn-arithmetic.md", "exec"), {})  # noqa: S102 - our own guide
    assert capsys.readouterr().out.startswith("[1 0 0] 4 ")

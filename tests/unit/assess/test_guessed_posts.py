"""The call guesses columns as the command does, and warns of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sottovoce.assess import assess_posts
from sottovoce.errors import UnclearColumnsError

ROWS = [
    {"author": who, "created_at": f"2024-01-{day:02}", "subject": "Hello", "body": text}
    for day, (who, text) in enumerate(
        [("ada", "My depression is back and I am sad."), ("ben", "We all went to the sea.")] * 2, 1
    )
]


def as_csv(folder: Path) -> Path:
    pl.DataFrame(ROWS).write_csv(folder / "export.csv")
    return folder / "export.csv"


@pytest.mark.parametrize(
    "source",
    [
        as_csv,
        lambda _: ROWS,
        lambda _: pd.DataFrame(ROWS),
        lambda _: pl.DataFrame(ROWS),
        lambda _: pa.Table.from_pylist(ROWS),
    ],
    ids=["path", "rows", "pandas", "polars", "arrow"],
)
def test_columns_are_guessed_with_a_warning(source: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"user = author \(by its name\).*text = body"):
        ranking = assess_posts(source(tmp_path), measures="bow-t", topic="depression")
    assert ranking.to_frame()["user"].to_pylist()[0] == "ada"


def test_an_index_that_names_the_user_needs_no_guess() -> None:
    ours = {"author": "user", "created_at": "time", "body": "text"}
    frame = pd.DataFrame(ROWS).rename(columns=ours).set_index("user")
    assert assess_posts(frame, measures="bow-t", topic="depression").to_frame().num_rows == 2


def test_what_is_not_clear_is_asked() -> None:
    rows = [{**row, "message": f"{row['body']} Indeed."} for row in ROWS]
    with pytest.raises(UnclearColumnsError, match="2 columns could be the text.*body, message"):
        assess_posts(pl.DataFrame(rows), measures="bow-t", topic="depression")

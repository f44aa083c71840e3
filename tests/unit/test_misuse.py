"""What is given in the wrong way is refused in a sentence, or read as it was meant."""

from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.errors import CorpusError

PRIVATE_TEXT = "zebra my secret loan"


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(pl.Series([PRIVATE_TEXT]), id="a series of polars"),
        pytest.param(pd.Series([None, PRIVATE_TEXT]), id="a missing text first"),
        pytest.param([float("nan"), PRIVATE_TEXT], id="NaN first"),
        pytest.param(pa.array([PRIVATE_TEXT]), id="an array of Arrow"),
        pytest.param(pa.chunked_array([[None, PRIVATE_TEXT]]), id="chunks of Arrow"),
        pytest.param([{"text": PRIVATE_TEXT}], id="dictionaries"),
        pytest.param([PRIVATE_TEXT.encode()], id="bytes"),
        pytest.param(PRIVATE_TEXT, id="one text"),
        pytest.param(np.array(PRIVATE_TEXT), id="an array without axes"),
    ],
)
def test_texts_given_for_counts_are_never_quoted(texts: object) -> None:
    with pytest.raises(CorpusError, match="put a CountVectorizer first") as refused:
        sv.release.PrivateBagOfWords().fit(cast("Any", texts))
    assert "zebra" not in str(refused.value)


@pytest.mark.parametrize(
    "matrix",
    [
        pytest.param(pl.DataFrame({"text": [PRIVATE_TEXT]}), id="a frame of polars"),
        pytest.param(pd.DataFrame({"text": [PRIVATE_TEXT]}), id="a frame of pandas"),
        pytest.param(pa.table({"text": [PRIVATE_TEXT]}), id="a table of Arrow"),
        pytest.param([[1, PRIVATE_TEXT]], id="rows"),
        pytest.param([[[PRIVATE_TEXT]]], id="rows of rows"),
        pytest.param([[1 + 77j]], id="complex numbers"),
        pytest.param([77, 78], id="one row"),
    ],
)
def test_an_unusable_matrix_is_never_quoted(matrix: object) -> None:
    with pytest.raises(CorpusError) as refused:
        sv.release.PrivateBagOfWords().fit(cast("Any", matrix))
    assert "zebra" not in str(refused.value)
    assert "77" not in str(refused.value)

"""The paper's data set: UCI Ionosphere, 351 radar returns, 34 numbers each, good or bad."""

import csv
from typing import NamedTuple

import numpy as np

from sottovoce.data import data_file
from sottovoce.errors import CorpusError
from sottovoce.learn.examples import Floats

_COLUMNS = 35


class Examples(NamedTuple):
    """Rows of numbers, and a sign for each."""

    rows: Floats
    signs: Floats


def ionosphere() -> Examples:
    """All examples; good returns are 1, bad ones -1."""
    with data_file("ionosphere.csv").open(newline="", encoding="utf-8") as lines:
        table = [line for line in csv.reader(lines) if line]
    if {len(line) for line in table} != {_COLUMNS}:
        raise CorpusError(f"ionosphere.csv must have {_COLUMNS} columns in every line.")
    rows = np.array([line[:-1] for line in table], np.float64)
    return Examples(rows, np.array([1.0 if line[-1] == "g" else -1.0 for line in table]))

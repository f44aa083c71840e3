"""Ridge for several labels, each against the others, from sums that all labels share.

Of the sums behind a classifier only y and x y depend on the label; the number of examples, x and
x x' do not. So for L labels they are added up and opened once, with L - 1 further pairs of y and
x y: for d features 1 + d numbers a label beside d^2/2 for all. Each label's classifier is the same
as if it had been trained alone, and nobody can be lost between two labels, since there is one sum.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn._examples import checked_signs
from sottovoce.learn.ridge import ExampleSums, example_vector_size, local_sums
from sottovoce.learn.support import KeptFeatures


def label_vector_size(width: int, labels: int) -> int:
    """How many numbers the sums of ``width`` features and so many labels take."""
    return example_vector_size(width) + (labels - 1) * (width + 1)


def local_label_sums(rows: Floats, signs: Floats, kept: KeptFeatures) -> Floats:
    """One peer's summand: the first label's sums, and what the others add.

    ``signs`` has a column of -1 and 1 for each label.
    """
    first = local_sums(rows, signs[:, 0], kept).to_vector()
    x = kept.applied(rows)
    columns = [checked_signs(column, len(x)) for column in signs[:, 1:].T]
    return np.concatenate([first, *(np.append(y.sum(), x.T @ y) for y in columns)])


def sums_of_labels(vector: ArrayLike, width: int, labels: int) -> list[ExampleSums]:
    """The sums of every label; those that do not depend on it are one array for all."""
    numbers = np.asarray(vector, np.float64)
    if numbers.shape != (label_vector_size(width, labels),):
        raise InputError(
            f"the sums of {width} features and {labels} labels take "
            f"{label_vector_size(width, labels)} numbers, got shape {numbers.shape}; peers must "
            "agree on the features."
        )
    own = example_vector_size(width)
    first = ExampleSums.from_vector(numbers[:own], width)
    rest = numbers[own:].reshape(labels - 1, width + 1)
    return [first, *(replace(first, label_total=float(y[0]), cross=y[1:]) for y in rest)]

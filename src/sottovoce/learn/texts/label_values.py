"""Labels in the type in which they were given: within a run they are names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.learn.texts.documents import label_names

_KINDS = {"b": "truth", "i": "number", "u": "number", "f": "number", "U": "text"}


@dataclass(frozen=True)
class LabelValues:
    """What each label name of a run stands for.

    Attributes:
        values: the value of each name; a name that is not there stands for itself.
        dtype: of the values; text where there are none.
    """

    values: Mapping[str, Any]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, labels: Iterable[ArrayLike]) -> Self:
        """Those of all holders' labels; names where holders give different kinds of them."""
        arrays = [plain_labels(each) for each in labels]
        kinds = {_KINDS.get(each.dtype.kind, "text") for each in arrays}
        if kinds not in ({"truth"}, {"number"}):
            return cls({}, np.dtype(str))
        dtype = np.result_type(*arrays)
        values: dict[str, Any] = {}
        for each in arrays:
            found = np.unique(each)
            names = label_names(found, len(found)) or ()
            values.update(zip(names, found.astype(dtype), strict=True))
        return cls(values, dtype)

    def of_names(self, names: Iterable[str]) -> NDArray[Any]:
        """The values of some names; None for one that stands for no label, such as undecided."""
        listed = list(names)
        if not self.values:
            return np.array(listed, np.dtype(str))
        found = [self.values.get(name) for name in listed]
        undecided = any(value is None for value in found)
        return np.array(found, object if undecided else self.dtype)


def plain_labels(labels: ArrayLike) -> NDArray[Any]:
    """An array of one kind where a list or a column of objects holds one kind."""
    found = np.asarray(labels)
    return np.asarray(found.tolist()) if found.dtype.kind == "O" else found

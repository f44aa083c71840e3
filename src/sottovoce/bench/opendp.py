"""OpenDP's exact integer Laplace mechanism, when it is installed."""

import importlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAME = "OpenDP make_laplace, vector of i32"


def laplace_on_vectors(rate: Fraction) -> Callable[[NDArray[np.int32]], list[int]] | None:
    """Noise on a vector of counts at ``rate`` nats per unit of L1, or None without OpenDP."""
    opendp = _opendp()
    if opendp is None:
        return None
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i32")), opendp.l1_distance(T="i32")
    measurement: Callable[[NDArray[np.int32]], list[int]] = opendp.m.make_laplace(
        *space, scale=1 / float(rate)
    )
    return measurement


def _opendp() -> Any:  # noqa: ANN401 - it ships no types
    try:
        return importlib.import_module("opendp.prelude")
    except ImportError:
        return None

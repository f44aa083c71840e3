"""How readers of released cells are told the law of their noise: by a rate, or by the release."""

from typing import Any, Protocol, TypeAlias

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.privacy.noise_law import NoiseLaw


class HasLaw(Protocol):
    """A release, as far as its noise is concerned."""

    @property
    def law(self) -> NoiseLaw:
        """Of every cell's noise."""


Rate: TypeAlias = "float | HasLaw | None"


def law_of(rate: Rate) -> NoiseLaw:
    """The law of noise at ``rate``, or of the release that is given in its place."""
    if rate is None:
        raise ParameterError(
            "rate must be given: nats per cell, as the release's card states it, or the release."
        )
    law = getattr(rate, "law", None)
    if isinstance(law, NoiseLaw):
        return law
    given: Any = rate
    if isinstance(given, bool) or not isinstance(given, int | float | np.number):
        raise ParameterError(f"rate must be a number or a release, got {type(rate).__name__}.")
    try:
        return NoiseLaw(float(given))
    except InputError:
        raise ParameterError(f"rate must be > 0 and finite, got {given:g}.") from None

"""Faults of the release path, planted one at a time, for whatever claims to notice them.

They were written by somebody who had not seen a check. Each makes what truly publishes misbehave:
a faulty release is the product's, drawn by its own functions, which an audit has to catch. All are
of this process, its threads and the children it forks meanwhile.

>>> with fault_named("ones_have_no_noise").planted():  # doctest: +SKIP
...     WAYS["visiting"].publish(counts)
"""

from collections.abc import Sequence

from support.faults import correlation, fresh, mechanisms, position, reuse, scale, support_cuts
from support.faults.bending import PlantedFault

_MODULES = (scale, support_cuts, reuse, correlation, position, mechanisms, fresh)
PLANTED_FAULTS: Sequence[PlantedFault] = [
    each for module in _MODULES for each in vars(module).values() if isinstance(each, PlantedFault)
]


def fault_named(name: str) -> PlantedFault:
    """The fault of a name."""
    (found,) = (fault for fault in PLANTED_FAULTS if fault.name == name)
    return found

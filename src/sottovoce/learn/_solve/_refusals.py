"""The ways in which a hidden solve is refused.

    InputError
    └── UnfitSystemError        not square, symmetric, finite, in bounds or positive definite
    ProtocolError
    └── SingularSystemError     the system has no single solution, or no prime was found for it

No message holds a number of the system.
"""

from sottovoce.errors import InputError, ProtocolError


class UnfitSystemError(InputError):
    """A system of equations that the hidden solves do not take."""


class SingularSystemError(ProtocolError):
    """The system is singular modulo every prime tried: it has no single solution."""

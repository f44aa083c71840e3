"""Hidden solves: A theta = b between a coordinator and a key holder, neither of whom sees it."""

from sottovoce.learn.solve.chebyshev import ChebyshevCoordinator, ChebyshevKeyHolder, ChebyshevTerms
from sottovoce.learn.solve.chebyshev_plan import ChebyshevPlan, plan_chebyshev
from sottovoce.learn.solve.dealer import DealtPlan, DealtTerms, SolveDealer, plan_dealt, triangle
from sottovoce.learn.solve.dealt import DealtCoordinator, DealtKeyHolder
from sottovoce.learn.solve.exact import ExactSolution, solved_exactly
from sottovoce.learn.solve.in_process import (
    HiddenSolution,
    ReadySolve,
    encrypted_system,
    ready_chebyshev,
    ready_dealt,
    ready_masked,
)
from sottovoce.learn.solve.masked import SolveCoordinator, SolveKeyHolder
from sottovoce.learn.solve.masked_terms import SolveTerms
from sottovoce.learn.solve.plan import SolvePlan, plan_solve
from sottovoce.learn.solve.refusals import SingularSystemError, UnfitSystemError
from sottovoce.learn.solve.shares import (
    Share,
    opened_fractions,
    opened_integers,
    opened_theta,
)
from sottovoce.learn.solve.system import (
    IntegerSystem,
    PublicBounds,
    check_system,
    scaled_system,
    standardised_bounds,
)

__all__ = [
    "ChebyshevCoordinator",
    "ChebyshevKeyHolder",
    "ChebyshevPlan",
    "ChebyshevTerms",
    "DealtCoordinator",
    "DealtKeyHolder",
    "DealtPlan",
    "DealtTerms",
    "ExactSolution",
    "HiddenSolution",
    "IntegerSystem",
    "PublicBounds",
    "ReadySolve",
    "Share",
    "SingularSystemError",
    "SolveCoordinator",
    "SolveDealer",
    "SolveKeyHolder",
    "SolvePlan",
    "SolveTerms",
    "UnfitSystemError",
    "check_system",
    "encrypted_system",
    "opened_fractions",
    "opened_integers",
    "opened_theta",
    "plan_chebyshev",
    "plan_dealt",
    "plan_solve",
    "ready_chebyshev",
    "ready_dealt",
    "ready_masked",
    "scaled_system",
    "solved_exactly",
    "standardised_bounds",
    "triangle",
]

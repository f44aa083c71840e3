"""The trust modes by name, and who learns what in each."""

from dataclasses import replace
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.learn._training_terms import Mode, Recipe
from sottovoce.learn._wire.machine import Leakage, Learns

_MODE_ASSUMES = (
    "honest but curious parties, authenticated private channels; the features' names and the "
    "recipe are public"
)


DEFAULT_PENALTY = 0.1


class PaperModeWarning(UserWarning):
    """The paper's arrangement: whoever coordinates can read everything.

    Example:
        An error where nobody may use that mode:

        >>> import warnings
        >>> from sottovoce.learn import PaperModeWarning
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", PaperModeWarning)
    """


class DroppedFeaturesWarning(UserWarning):
    """Features that one peer alone has are not trained on.

    Example:
        >>> import warnings
        >>> from sottovoce.learn import DroppedFeaturesWarning, train
        >>> holder = ([[0.0, 1.0, 0.5], [1.0, 0.0, 0.7]] * 6, [0, 1] * 6)
        >>> names = [["a", "b", f"of {peer} alone"] for peer in range(3)]
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", DroppedFeaturesWarning)
        ...     trained = train([holder] * 3, features=names, penalty=0.1)
        >>> trained.kept_
        ('a', 'b')
    """


DROPPED_WARNING = (
    "{} of {} features belong to one peer alone and were dropped, since their sums would be that "
    "peer's own: see kept_ for those that are left; use shared=[...] to train on block rados, or "
    "have peers agree on the features."
)
_OF_TWO = (
    "as there are only two peers, the other's part of every sum that it is told, by taking off its "
    "own"
)
PAPER_WARNING = (
    "mode='paper' is for reproducing the paper: its coordinator holds the key, so that it can read "
    "every peer's sums, theta and every score; use mode='open' or mode='hidden' on private text."
)


def mode_recipe(mode: Mode, options: dict[str, Any]) -> Recipe:
    """A recipe from a user's options, with what the mode needs where nothing is said."""
    unknown = set(options) - set(Recipe.__dataclass_fields__)
    if unknown:
        known = ", ".join(Recipe.__dataclass_fields__)
        raise ParameterError(f"options must be among {known}; got {', '.join(sorted(unknown))}.")
    if mode == "paper":
        options = {"statistics": "rados", **options}
    chosen_by_folds = mode == "open" and options.get("statistics", "exact") == "exact"
    if not chosen_by_folds and options.get("penalty") is None:
        options = {**options, "penalty": DEFAULT_PENALTY}
    return Recipe(**options)


def mode_leakage(mode: Mode, recipe: Recipe, *, blocks: bool = False) -> Leakage:
    """Who learns what from a training in this mode, and from classifying afterwards."""
    if blocks:
        return _blocks(recipe)
    if mode == "paper":
        return _paper(recipe)
    return _open(recipe) if mode == "open" else _hidden(recipe)


def among(peers: int, leakage: Leakage) -> Leakage:
    """The statement for so many peers: of two, each has the other's part of what it is told."""
    if peers > 2:  # noqa: PLR2004 - two
        return leakage
    rows = tuple(
        replace(row, what=f"{row.what}; {_OF_TWO}") if row.who == "every peer" else row
        for row in leakage.learns
    )
    return replace(leakage, learns=rows)


def _open(recipe: Recipe) -> Leakage:
    aggregate = _aggregate(recipe)
    learns = [
        Learns(
            "coordinator",
            f"which peers have which features; {_told(recipe)}; {aggregate}; theta; no peer's own "
            "sums; of rows whose parts several peers hold, each row's score",
        ),
        Learns(
            "every peer",
            f"{_told(recipe)}; theta, with which it classifies by itself; of rows whose parts it "
            "and other peers hold, each row's score",
        ),
    ]
    if recipe.way == "packed":
        learns.insert(1, Learns("key holder", f"{_told(recipe)}; {aggregate}; no peer's own sums"))
        collusion = (
            "the coordinator and the key holder together learn every peer's sums; all peers but "
            "one, with either, learn the last one's"
        )
    else:
        collusion = (
            "the coordinator and two thirds of the peers together learn every peer's sums; all "
            "peers but one, with the coordinator, learn the last one's"
        )
    return Leakage(
        f"open mode, {recipe.statistics} statistics", tuple(learns), collusion, _MODE_ASSUMES
    )


def _hidden(recipe: Recipe) -> Leakage:
    marginals = "each feature's mean and variance"
    learns = [
        Learns(
            "coordinator",
            f"which peers have which features; {_support(recipe)}; {marginals}; ciphertexts and a "
            "uniform share of theta; who asks, and for how many rows",
        ),
        Learns(
            "key holder",
            "how many features are kept; uniform numbers and a uniform share of theta; who asks, "
            "and for how many rows"
            + (f"; {_support(recipe)}; {marginals}" if recipe.way == "packed" else ""),
        ),
        Learns(
            "every peer",
            f"{_support(recipe)}; {marginals}; ciphertexts of theta; the signs of "
            f"{_asked(recipe)}; each sign is a half-space that theta lies in, and as many "
            "well-chosen signs as features give its direction to a cosine of about 0.8",
        ),
    ]
    collusion = "the coordinator and the key holder together learn A, b and theta: keep them apart"
    if recipe.solver == "dealer":
        learns.append(Learns("dealer (the first peer)", "nothing more"))
        collusion = (
            "any two of coordinator, key holder and dealer together learn A, b and theta: keep "
            "the three apart"
        )
    return Leakage(f"hidden mode, {recipe.solver} solve", tuple(learns), collusion, _MODE_ASSUMES)


def _asked(recipe: Recipe) -> str:
    together = recipe.queries_together or recipe.queries
    joint = "half as many as there are features" if together is None else str(together)
    if recipe.queries is None:
        return f"its part of the rows that all peers may ask for together, {joint}"
    return f"at most {recipe.queries} rows that it asks for, {joint} over all peers together"


def _paper(recipe: Recipe) -> Leakage:
    learns = (
        Learns(
            "coordinator",
            f"which peers have which features; {_aggregate(recipe)}, rare features included; "
            "theta; every score of every row that is classified; each peer's own sums, if it sees "
            "a message between two peers",
        ),
        Learns(
            "every peer",
            "how many documents there are, each feature's mean and variance; ciphertexts of theta; "
            "the signs of the rows that it asks for",
        ),
    )
    collusion = (
        "the coordinator and any one peer together read the sums of the peers before it: the "
        "encryption protects peers from each other only"
    )
    return Leakage("paper mode", learns, collusion, _MODE_ASSUMES)


def _blocks(recipe: Recipe) -> Leakage:
    folds = "" if recipe.penalty is not None else f" and each of {recipe.folds} folds"
    learns = (
        Learns(
            "coordinator",
            "which peers have which features; which values of the shared features each peer has in "
            "at least five rows; for each of "
            f"these and each label{folds}, each peer's sum of its rows, since their features are "
            "different ones, and no support is asked for: a word that one row of a block uses "
            "stands in its sum; theta; of rows whose parts several peers hold, each row's score",
        ),
        Learns(
            "every peer",
            "how many features each peer has; the values of the shared features that all peers "
            "have; the candidates' thetas and "
            "theta, with which it classifies by itself; of rows whose parts it and other peers "
            "hold, each row's score",
        ),
    )
    collusion = "the coordinator sees a peer's sums of at least five rows without anybody's help"
    return Leakage("open mode, basic block rados", learns, collusion, _MODE_ASSUMES)


def _told(recipe: Recipe) -> str:
    if recipe.statistics == "rados":
        return f"{_support(recipe)}; each feature's mean and variance"
    return _support(recipe)


def _support(recipe: Recipe) -> str:
    """What the sum of the peers' `local_support` says, which everybody decides from."""
    folds = "" if recipe.opened_folds == 1 else f", for each of {recipe.opened_folds} folds"
    return (
        "of each feature how many documents use it, how many documents there are, how many peers "
        f"use it and at how many it is not only 0 and 1{folds}"
    )


def _aggregate(recipe: Recipe) -> str:
    if recipe.statistics == "rados":
        return "the sum over all peers of their rados and of the rados' outer products"
    folds = "" if recipe.penalty is not None else f", for each of {recipe.folds} folds"
    return f"the sum over all peers of x, y, xy and xx'{folds}"

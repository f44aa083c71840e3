"""What those gain from a training who do more than follow the protocol and remember.

Four rows below the table of each mode: the coordinator together with one peer, a coordinator that
lies, a peer that lies, and a party that comes back from a backup.
"""

from typing import assert_never

from sottovoce.learn.training_terms import Mode, Recipe
from sottovoce.learn.wire.message import Learns

ONE_PEER = "coordinator + 1 peer"
LYING_COORDINATOR, LYING_PEER, BACKUP = "lying coordinator", "lying peer", "restored backup"
_OTHERS = (
    "the sums of the other peers, by taking off that peer's own, made-up documents too; of each "
    "kept feature they are over {k} of the others' documents at least, which alone would keep no "
    "document from being worked out"
)
_KEPT_FALSELY = "it may say that rare features are kept, which no peer can check, and then "
_READS = (
    "reads all opened words of a document off the row of one that it alone uses; or that features "
    "differ in enough documents, and then off the difference of two rows"
)
_CANNOT = (
    "it cannot open one peer's sums, choose which documents are held out, or have a peer train "
    "whose documents changed by fewer than {k}; it may say that peers are lost, but only before "
    "the first run's statistics are opened"
)
_SOLVES = (
    "it may have other ciphertexts solved than the sum, one peer's too, which the key holder "
    "cannot tell: signs of such a theta are within the same budget, and for each prime it hears "
    "whether a masked system is singular"
)
_PASSES = (
    "it may count documents that it has not, and so have any feature kept, and two that a single "
    "document tells apart: with the coordinator it then reads all opened words of that document; "
)
_TOTAL = (
    "the opened total must be one that as many documents as the peers state could have; within "
    "that, one liar who knows about what the others' sums are decides theta (in trials it moved "
    "scores up to three times as far as the worst made-up documents do); it is told no more than a "
    "curious peer"
)
_WEIGHED = (
    "made-up documents count like true ones, as many as it states; where rows are of 0 and 1, its "
    "sums weigh no more than 2.6 + (650 + 1,150 root(P - 1))/m times as much as m documents could, "
    "for one of P peers, which states m, or it is named; also, "
)
_UNCHECKED = "no sums are checked: one liar decides theta"
_SPOILS = (
    f"it may count documents that it has not, and so have any feature kept; {_UNCHECKED}; it is "
    "told no more than a curious peer"
)
_BACKUP = (
    "a run under way ends by digest where data or inputs have changed; a count outside the store "
    "shows that a store or a memory is a copy: runs under way end, a peer trains once a person has "
    "approved, a helper answers no query by an earlier training; where that count was restored "
    "too, what came after the backup is forgotten"
)


def adversaries(mode: Mode, recipe: Recipe) -> tuple[Learns, ...]:
    """The rows of a mode, with its recipe's numbers."""
    match mode:
        case "open":
            rows = _open_rows(recipe)
        case "hidden":
            rows = _hidden_rows()
        case _:
            assert_never(mode)
    return tuple(Learns(row.who, row.what.format(k=recipe.fewest_documents)) for row in rows)


def rado_adversaries(recipe: Recipe) -> tuple[Learns, ...]:
    """The rows of a run whose rados a blind intermediary makes."""
    lies = f"{_KEPT_FALSELY}they stand in the rados that the key holder opens; {_CANNOT}"
    return (
        Learns(ONE_PEER, "the other peers' support, by taking off that peer's own"),
        Learns(LYING_COORDINATOR, lies.format(k=recipe.fewest_documents)),
        Learns(LYING_PEER, _SPOILS),
        Learns(BACKUP, _BACKUP),
    )


def _open_rows(recipe: Recipe) -> tuple[Learns, ...]:
    lies = f"{_KEPT_FALSELY}{_READS}; {_CANNOT}"
    match recipe.statistics:
        case "exact":
            theta = _WEIGHED + _TOTAL
        case "rados":
            theta = f"{_UNCHECKED}; it is told no more than a curious peer"
        case _:
            assert_never(recipe.statistics)
    return (
        Learns(ONE_PEER, _OTHERS),
        Learns(LYING_COORDINATOR, lies),
        Learns(LYING_PEER, _PASSES + theta),
        Learns(BACKUP, _BACKUP),
    )


def _hidden_rows() -> tuple[Learns, ...]:
    joint = (
        "the other peers' part of each feature's mean and variance; the signs that the peer may "
        "ask for, and no others: training again on the same data gives no new ones"
    )
    lies = f"{_KEPT_FALSELY}learns their means and variances, and no product; {_SOLVES}; {_CANNOT}"
    passes = (
        "it may count documents that it has not, and so have any feature kept, of which means and "
        f"variances are told; {_UNCHECKED}; it learns no more signs than its budget"
    )
    return (
        Learns(ONE_PEER, joint),
        Learns(LYING_COORDINATOR, lies),
        Learns(LYING_PEER, passes),
        Learns(BACKUP, _BACKUP),
    )

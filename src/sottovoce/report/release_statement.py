"""The privacy statement of a release, from its card."""

from sottovoce.privacy.exact import text_up
from sottovoce.release.card import WORD, ReleaseCard
from sottovoce.report.statement import (
    CHOSEN,
    COLLECTED,
    FILL_IN,
    RARE,
    SMALLER,
    TESTED,
    PrivacyStatement,
    listed,
)


def release_statement(card: ReleaseCard) -> PrivacyStatement:
    """What the card of a release says."""
    return PrivacyStatement(
        "word counts of a release",
        {
            "unit": _release_unit(card),
            "epsilon": _release_epsilon(card),
            "meaning": card.in_words(),
            "model": _release_model(card),
            "threats": card.threat_model(),
            "mechanism": "Two-sided geometric noise on every count, zeros included, at the rate "
            f"{card.noise_rate} for each word. {TESTED}`sottovoce audit --release` tries this "
            "folder; what it cannot see, it says.",
            "composition": _release_composition(card),
            "accuracy": _release_accuracy(card),
            "security": "This folder needs no guard: it is what may be read. The true texts, and "
            "the ledger with its key, do; how they are kept is no part of the promise. "
            f"{FILL_IN}who can read the true texts, and how that is logged.",
            "collection": COLLECTED,
            "not_protected": _release_not_protected(card),
        },
    )


def _release_unit(card: ReleaseCard) -> str:
    user = (
        "Nothing is promised of all that one person wrote: whose documents these are is not bound."
        if card.per_user is None
        else f"Of each user at most {card.documents_per_user} documents are in it, and for these "
        f"together N = {card.per_user.n} and epsilon = {text_up(card.per_user.epsilon)} hold."
    )
    row = card.row
    return (
        f"Up to N = {card.guarantee.n} words of one {row}; not the {row} as a whole, and not that "
        f"it is there. {WORD} {user}"
    )


def _release_epsilon(card: ReleaseCard) -> str:
    held = f"epsilon = {text_up(card.guarantee.epsilon)} for N = {card.guarantee.n} words. "
    further = "For documents further apart it grows in proportion. "
    if card.stated == card.guarantee:
        return f"{held}{further}{SMALLER}"
    return (
        f"{held}It was asked for as epsilon = {text_up(card.stated.epsilon)} by the accounting of "
        f"the paper, which does not hold; what holds is the larger one. {further}{SMALLER}"
    )


def _release_model(card: ReleaseCard) -> str:
    if card.prior["kind"] == "central":
        return (
            "A trusted curator: word frequencies were computed from all true counts, and who did "
            f"that saw them. They cost {card.prior['rate']} of the rate, which is counted above."
        )
    paid = (
        ""
        if card.prior["kind"] == "public"
        else f" Word frequencies were learnt under noise too, at {card.prior['rate']} of the rate."
    )
    if card.groups is not None:
        return (
            "A trusted curator: whoever put the documents of a row together, which may be many "
            f"people's, saw their true counts. Noise is on each row by itself.{paid}"
        )
    return (
        "The local model: noise is on each document by itself, so that it could have been added "
        "before anybody else saw it. Where somebody has the true texts, as whoever made this "
        f"release had, they must be trusted with them.{paid}"
    )


def _release_composition(card: ReleaseCard) -> str:
    paid = (
        "No ledger counted this release: nobody can say from the card what else was published of "
        "these documents."
        if card.ledger is None
        else f"It was paid for in a ledger (spend {card.ledger['spend']}), which refuses what goes "
        "beyond a document's budget. A ledger knows what it was shown: not what was published "
        "elsewhere, nor a document of which a word was changed."
    )
    return f"Of several releases of one document the epsilons add up. {paid}"


def _release_accuracy(card: ReleaseCard) -> str:
    dropped = (
        "Counts have no bias, and some are negative. "
        if card.threshold is None
        else f"What came out below {card.threshold} was dropped, which biases the rest: read "
        "totals with `sottovoce analyse`. "
    )
    shared = (
        ""
        if card.columns == card.words
        else f"{card.words} words share {card.columns} columns, so that words of one column cannot "
        "be told apart. "
    )
    return f"{dropped}{shared}{RARE}{CHOSEN}"


def _release_not_protected(card: ReleaseCard) -> str:
    of_groups = "rows, in which order, and which groups there are"
    whose = "documents, in which order and whose" if card.groups is None else of_groups
    told = [
        f"that there are {card.documents} {whose}",
        "what a long document is about: each of its words adds to what can be told",
    ]
    if card.vocabulary["data_dependent"] or card.vocabulary["declared"]:
        said = ", ".join(card.vocabulary["declared"]) or "the words"
        told.append(f"what the documents themselves chose and was declared: {said}")
    else:
        told.append("which words are counted: the list is public, whatever the documents say")
    if card.labels is not None:
        told.append("the label of each document, which is published as it is")
    return listed(told)

"""The privacy statement of a count together, from its terms."""

from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.privacy.exact import text_up
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


def count_statement(counted: TogetherCounts) -> PrivacyStatement:
    """What a count together says of itself; its sums are not part of the statement."""
    recipe, promise = counted.recipe, counted.guarantee
    return PrivacyStatement(
        f"{counted.what} counted together",
        {
            "unit": _count_unit(counted),
            "epsilon": f"epsilon = {text_up(promise.document_epsilon)} for adding or removing a "
            f"whole document of one of the {counted.parties} peers. {SMALLER}",
            "meaning": promise.in_words(),
            "model": "Between the local and the central model, with no curator: each of "
            f"{counted.parties} peers adds its share of the noise to its own sum and masks it, and "
            f"only the sum of {len(counted.survivors)} of them was opened. Each peer must trust "
            f"that at most {recipe.collude} of them tell what they know and at most {recipe.drop} "
            "are lost; it has named the others itself.",
            "threats": "Against everybody who reads the sums, the coordinator too, also if it lies "
            f"about the terms or about who was lost, together with up to {recipe.collude} peers. "
            "A peer that votes falsely makes the sums wrong; one that adds no noise is one of "
            "those who tell.",
            "mechanism": f"A document casts at most {recipe.votes} votes; the peers' shares sum to "
            f"two-sided geometric noise at the rate epsilon over votes. {TESTED}",
            "composition": "Of several counts and releases of one document the epsilons add up; "
            "each peer's ledger pays before noise is drawn. A document that k peers hold counts k "
            "times.",
            "accuracy": f"Votes are counted without bias; of a long document {recipe.votes} votes "
            f"are drawn, and what it did not vote for is missing. {RARE}{CHOSEN}",
            "security": "The sums need no guard. Each peer's texts, ledger and keys do, and stay "
            f"with it. {FILL_IN}who runs the coordinator and each peer, and what binds them.",
            "collection": COLLECTED,
            "not_protected": _count_not_protected(counted),
        },
    )


def _count_unit(counted: TogetherCounts) -> str:
    bound = counted.recipe.documents_per_user
    if bound is None:
        return (
            "One whole document, its label included: that it is there, and all it says. Nothing is "
            "promised of all that one person wrote."
        )
    return (
        "One whole document, its label included: that it is there, and all it says. Of each user "
        f"at most {bound} documents vote at each peer, so that all of theirs there is a unit too."
    )


def _count_not_protected(counted: TogetherCounts) -> str:
    told = [
        f"that these {counted.parties} holders took part, and when",
        f"the list of {len(counted.words)} words, and the terms",
        "that a peer refused, where it did: there is a reason for it",
    ]
    if counted.labels:
        told.append(f"the names of the {len(counted.labels)} labels")
    if counted.recipe.declared:
        told.append("what the choice of the words tells: documents chose them, which was declared")
    return listed(told)

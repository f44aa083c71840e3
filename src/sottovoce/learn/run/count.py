"""A count from documents to the opened sum at every party, as one script for each."""

import hashlib
from collections.abc import Generator
from typing import Any

import numpy as np

from sottovoce.errors import DataError, ParameterError
from sottovoce.learn.count.opened import TogetherCounts, counted_record
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.count.sum import STAGES, NoisedSum, Voter
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.data_digest import keyed_digest
from sottovoce.learn.documents import Documents
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.stages import Stage

_Script = Generator[Stage, Any, dict[str, Value]]


def count_plan(_terms: RunTerms) -> tuple[str, ...]:
    """The names of all stages."""
    return STAGES


def counting_peer(name: str, terms: RunTerms, holdings: Holdings) -> _Script:
    """A peer's part; what it takes no part in is refused at once."""
    count, identity = noised_sum(terms), holdings.wanted_identity(name)
    if terms.identities[name] != identity.public:
        raise DataError(f"{name} must bring the identity that this run knows it by.")
    voter = _voter(name, terms, holdings)
    voter.check(count)

    def script() -> _Script:
        made = count.peer(name, identity, lambda: voter.summand(count))
        summed = yield Stage("count", made)
        return _record(terms, summed.total, summed.survivors)

    return script()


def counting_coordinator(terms: RunTerms) -> _Script:
    """The coordinator's part."""
    count = noised_sum(terms)

    def script() -> _Script:
        summed = yield Stage("count", count.adder())
        return _record(terms, summed.total, summed.survivors)

    return script()


def noised_sum(terms: RunTerms) -> NoisedSum:
    """The sum that a run's terms describe."""
    recipe, text = wanted_recipe(terms), terms.text
    if text is None:
        raise ParameterError("a count needs the public words, got none.")
    recipe.check_parties(len(terms.identities))
    plan = VotePlan.from_recipe(recipe, text.words, terms.labels, text.rules)
    return NoisedSum(terms.identities, recipe, plan, hashlib.sha256(terms.to_bytes()).digest())


def wanted_recipe(terms: RunTerms) -> CountRecipe:
    """How a count's documents are counted."""
    if terms.count is None:
        raise ParameterError("a run that counts must say how; got no recipe.")
    return terms.count


def _voter(name: str, terms: RunTerms, holdings: Holdings) -> Voter:
    # None at all will do: to refuse them would tell one document from none.
    examples = holdings.examples
    if not isinstance(examples, Documents):
        raise DataError(f"{name} must bring documents: rows of numbers are not counted.")
    if holdings.spending is None or holdings.trust is None:
        raise DataError(
            f"{name} must bring a ledger and name the peers that it counts on; see [count] in its "
            "party.toml."
        )
    key = keyed_digest(holdings.wanted_secret(name), "votes")
    return Voter(name, terms.session, examples, key, holdings.spending, holdings.trust)


def _record(terms: RunTerms, total: Ring, survivors: tuple[str, ...]) -> dict[str, Value]:
    words = () if terms.text is None else terms.text.words
    numbers = np.asarray(total).view(np.int64)
    recipe = wanted_recipe(terms)
    counted = TogetherCounts(words, terms.labels, numbers, recipe, terms.peers, survivors)
    return counted_record(counted, terms.session)

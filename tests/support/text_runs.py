"""Small runs over texts that are made up: peers, their documents, and their holdings."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from sottovoce.learn.documents import Documents, Table
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.query_budget import QueryBudget
from sottovoce.learn.run.party import Finished, make_party, run_in_process
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, Recipe
from sottovoce.learn.wire.codec import Value, from_value, parts, texts
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import new_session
from support.changed_parties import Change, Changing
from support.hidden_systems import two_keys

NAMES = ("ada", "ben", "cy", "dee")
LABELS = ("ham", "spam", "yam")
WORDS = tuple(f"w{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(60))
HASHED = TextRecipe(dictionary="hashed", width=8)
AGREED = TextRecipe(width=80, buckets=4096)
GIVEN = TextRecipe(dictionary="given", words=WORDS)


def made_texts(number: int, seed: int, *, labels: int = 2) -> tuple[list[str], list[str]]:
    """Texts of twelve words, ten of which are likelier under each label."""
    written, names = _drawn_texts(number, seed, labels)
    return list(written), list(names)


@cache
def _drawn_texts(number: int, seed: int, labels: int) -> tuple[list[str], list[str]]:
    chance = np.random.default_rng(seed)
    written, names = [], []
    for _ in range(number):
        label = int(chance.integers(labels))
        odds = np.ones(len(WORDS))
        odds[10 * label : 10 * label + 10] = 6.0
        written.append(" ".join(chance.choice(WORDS, size=12, p=odds / odds.sum())))
        names.append(LABELS[label])
    return written, names


def made_peers(*, documents: int = 40, labels: int = 2) -> dict[str, Documents]:
    return {
        name: Documents.from_texts(*made_texts(documents, at, labels=labels))
        for at, name in enumerate(NAMES)
    }


IDENTITIES = {name: Identity() for name in NAMES}
# Known, so that a test holds out the same documents each time.
SECRETS = {name: name.encode() * 16 for name in NAMES}
PUBLIC = {name: identity.public for name, identity in IDENTITIES.items()}


def made_terms(kind: Any = "train", mode: Any = "open", **given: Any) -> RunTerms:  # noqa: ANN401 - as RunTerms takes them
    """Terms of a run among the four; ``recipe`` may be a dictionary of options."""
    recipe = given.pop("recipe", {})
    text = given.pop("text", None if "features" in given else AGREED)
    return RunTerms(
        new_session(),
        kind,
        mode,
        given.pop("identities", PUBLIC),
        Recipe(**recipe) if isinstance(recipe, dict) else recipe,
        text,
        **given,
    )


def made_holdings(
    peers: Mapping[str, Documents | Table], earlier: Mapping[str, Mapping[str, Value]] | None = None
) -> dict[str, Holdings]:
    """What everybody brings: the peers' examples, and the helpers' keys."""
    own, held = two_keys()
    kept = earlier or {}
    helpers = {
        COORDINATOR: Holdings(key=own, earlier=kept.get(COORDINATOR)),
        KEY_HOLDER: Holdings(key=held, earlier=kept.get(KEY_HOLDER)),
    }
    return helpers | {
        name: Holdings(IDENTITIES[name], examples, earlier=kept.get(name), secret=SECRETS[name])
        for name, examples in peers.items()
    }


def trained(terms: RunTerms, peers: Mapping[str, Documents | Table]) -> Finished:
    return run_in_process(terms, made_holdings(peers))


def use_of(
    kind: str,
    terms: RunTerms,
    ended: Finished,
    peers: Mapping[str, Documents | Table],
    **given: Any,  # noqa: ANN401 - as RunTerms takes them
) -> Finished:
    """A query or an evaluation with what a training left, about what the peers bring."""
    options = {"text": None, "recipe": terms.recipe, "training": terms.session, **given}
    return run_in_process(
        made_terms(kind, terms.mode, **options), made_holdings(peers, ended.results)
    )


def query_of(
    terms: RunTerms,
    ended: Finished,
    texts: list[str],
    peers: Mapping[str, Documents | Table],
    asker: str = "ben",
    **given: Any,  # noqa: ANN401 - as RunTerms takes them
) -> Finished:
    """A peer's query about some texts."""
    brought = {**peers, asker: Documents.from_texts(texts)}
    return use_of("classify", terms, ended, brought, asker=asker, rows=len(texts), **given)


def watched(
    terms: RunTerms,
    holdings: Mapping[str, Holdings],
    lie: Change | None = None,
    told: Mapping[str, RunTerms] | None = None,
) -> Exchange:
    """All messages of a run.

    The coordinator's are changed on their way out by ``lie``; ``told`` are other terms for some.
    """
    known = told or {}
    parties: list[Any] = [
        make_party(known.get(name, terms), name, holdings.get(name, Holdings()))
        for name in terms.parties
    ]
    if lie is not None:
        parties[0] = Changing(parties[0], lie)
    exchange = Exchange(parties)
    exchange.run()
    return exchange


def labels_kept(result: Mapping[str, Value]) -> list[str]:
    """The labels of a result."""
    return list(texts(result, "labels"))


def part_kept(result: Mapping[str, Value], name: str) -> Any:  # noqa: ANN401 - records of arrays
    """The first of several records within a result, such as its only classifier."""
    return parts(result, name)[0]


def budget_left(kept: Any, name: str) -> int:  # noqa: ANN401 - a helper's part of a record
    """How many rows a peer may still ask for, by what a helper keeps."""
    return from_value(kept["budget"], QueryBudget).rows_left(name)

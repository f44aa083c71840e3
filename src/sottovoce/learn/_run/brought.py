"""A digest of what a party brings to a run: other data, another digest.

Whoever carries a run on after a crash compares it with that of the beginning, and derives from it
what the party draws: masks that have hidden one thing never hide another.
"""

from sottovoce.learn._data_digest import document_digests, document_numbers, keyed_digest
from sottovoce.learn._run.terms import Holdings
from sottovoce.learn._wire.codec import Value

# What a helper counts on is not what it brings: queries that run side by side change it.
_COUNTED = "helpers"


def holdings_digest(holdings: Holdings, secret: bytes) -> bytes:
    """HMAC of a party's examples in their order, its keys and its part of an earlier training."""
    return keyed_digest(
        secret, "brought", _examples(holdings, secret), _keys(holdings), _earlier(holdings)
    )


def _examples(holdings: Holdings, secret: bytes) -> Value:
    examples = holdings.examples
    if examples is None:
        return ()
    return (document_digests(examples, secret), document_numbers(examples))


def _keys(holdings: Holdings) -> Value:
    identity = () if holdings.identity is None else (holdings.identity.public,)
    keys = (key for key in (holdings.key, holdings.sums_key) if key is not None)
    return (identity, tuple(key.public.fingerprint for key in keys))


def _earlier(holdings: Holdings) -> Value:
    kept = holdings.earlier or {}
    return {name: value for name, value in kept.items() if name != _COUNTED}

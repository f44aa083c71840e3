"""Whom a party waits for: nobody's protocol needs it, but people who wait do."""

from sottovoce.learn.party.contract import Party
from sottovoce.learn.party.inbox import Inbox


def awaited(party: Party) -> tuple[str, ...]:
    """The senders that a party has not heard in its present step; empty where it does not say."""
    inner = getattr(party, "_party", None)
    if inner is not None:
        return awaited(inner)
    inbox = getattr(party, "_inbox", None)
    return inbox.missing if isinstance(inbox, Inbox) else ()

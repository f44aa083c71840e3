"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice."""

from sottovoce.privacy.ledger._ledger import Account, Ledger, Spend, SpendRequest

__all__ = ["Account", "Ledger", "Spend", "SpendRequest"]

"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice."""

from sottovoce.release.ledger.accounts import Account, Request
from sottovoce.release.ledger.ledger import Ledger, Spend

__all__ = ["Account", "Ledger", "Request", "Spend"]

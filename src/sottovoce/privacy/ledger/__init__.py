"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice.

`_ledger` is the whole idea; `_database` keeps its rows and the bytes that were drawn.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "Account",
    "Ledger",
    "Spend",
    "SpendRequest",
]

if TYPE_CHECKING:
    from sottovoce.privacy.ledger._ledger import Account, Ledger, Spend, SpendRequest
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Account": "sottovoce.privacy.ledger._ledger",
            "Ledger": "sottovoce.privacy.ledger._ledger",
            "Spend": "sottovoce.privacy.ledger._ledger",
            "SpendRequest": "sottovoce.privacy.ledger._ledger",
        },
    )

"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice.

`_ledger` is the whole idea; `_documents` says how it knows a document, `_groups` and `_accounts`
what each has spent, `_elsewhere` what in other ledgers; `_database` keeps the rows, `_outputs` the
bytes that were drawn, `_place` says where a user's ledger is, `_chosen_ledger` which is charged.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Account",
    "DocumentGroup",
    "DocumentSet",
    "Ledger",
    "Spend",
    "SpendRequest",
    "user_ledger",
]

if TYPE_CHECKING:
    from sottovoce.privacy.ledger._groups import DocumentGroup
    from sottovoce.privacy.ledger.accounts import Account, SpendRequest
    from sottovoce.privacy.ledger.documents import DocumentSet
    from sottovoce.privacy.ledger.ledger import Ledger, Spend
    from sottovoce.privacy.ledger.place import user_ledger
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Account": "sottovoce.privacy.ledger.accounts",
            "DocumentGroup": "sottovoce.privacy.ledger._groups",
            "DocumentSet": "sottovoce.privacy.ledger.documents",
            "Ledger": "sottovoce.privacy.ledger.ledger",
            "Spend": "sottovoce.privacy.ledger.ledger",
            "SpendRequest": "sottovoce.privacy.ledger.accounts",
            "user_ledger": "sottovoce.privacy.ledger.place",
        },
    )

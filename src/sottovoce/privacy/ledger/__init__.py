"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice.

`_ledger` is the whole idea; `_documents` says how it knows a document, `_groups` and `_accounts`
what each has spent, `_elsewhere` what in other ledgers; `_database` keeps the rows, `_outputs` the
bytes that were drawn, `_place` says where a user's ledger is, `_chosen_ledger` which is charged.
"""

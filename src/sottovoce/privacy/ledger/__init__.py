"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice.

`ledger` is the whole idea; `documents` says how it knows a document, `groups` and `accounts` what
each has spent, `elsewhere` where ledgers are and what was spent in others; `database` keeps the
rows and the bytes that were drawn; `chosen_ledger` says which ledger is charged.
"""

"""Configured parties: how commands start them, ask them and read what they keep.

`_party` makes a node of a ``party.toml``, `_service` runs it and answers its owner's commands,
`_offline` answers from the journal of one that does not run.
"""

"""Configured parties: how commands start them, ask them and read what they keep.

`party` makes a node of a ``party.toml``, `service` runs it and answers its owner's commands,
`reports` answers from the journal of one that does not run.
"""

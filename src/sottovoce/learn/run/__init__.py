"""Whole runs: one party for each participant, from its documents to what it keeps.

A run starts from its `terms` and ends with `records`. `party` makes a party of a run, and runs all
of them in one process. What a party does is a script: those of a `train`ing, which first `agree`
on features (by a `dictionary` of hashed words) and labels; those that `classify` and `evaluate`,
by themselves or by a query of others; and those of rados that an `intermediary` makes. `leakage`
says who learns what from each.
"""

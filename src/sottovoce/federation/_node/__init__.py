"""A node: carries the messages of runs, journals every step, and notices who is lost.

Begin with `dispatcher`, which hands frames to the inbox, the worker, the outbox and the heartbeat;
`state` is what they share, `aborts` how a run ends early, and `node` the process around them all.
"""

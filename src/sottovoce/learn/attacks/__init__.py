"""Our own attacks on what a training opens: what they read, nobody may open.

`opening` is a sum as whoever sees it has it; `single` reads documents by themselves, `joint` all of
them at once; `audit` counts what was read, and `training` takes the sums from a real training.
"""

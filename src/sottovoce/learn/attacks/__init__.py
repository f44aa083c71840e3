"""Our own attacks on what a training opens: what they read, nobody may open.

`opening` is a sum as whoever sees it has it; `audit` counts the documents that it gives away, and
`training` takes the sums from a real training.
"""

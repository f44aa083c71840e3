"""Our own attacks on what a training opens: what they read, nobody may open.

`opening` is a sum as whoever sees it has it, and the attacks; `audit` takes the sums from a real
training, and counts the documents that they give away.
"""

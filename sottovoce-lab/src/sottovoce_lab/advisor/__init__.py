"""Studies of the advisor: a person's own place, estimated from published histograms.

`rank` is the study; beside it stand the simulated people, the errors and the fitted edges.
"""

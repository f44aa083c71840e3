"""Studies of the advisor: a person's own place, estimated from published histograms."""

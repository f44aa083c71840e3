"""Studies of assess: the tables and figures of R-Susceptibility."""

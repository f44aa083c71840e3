"""Studies of release: the tables and figures of limited-precision release."""

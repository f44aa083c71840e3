"""Studies of learn: the tables and figures of Private Text Classification."""

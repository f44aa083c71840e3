"""A node: carries the messages of runs, journals every step, and notices who is lost."""

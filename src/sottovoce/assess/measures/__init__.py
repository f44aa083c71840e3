"""Risk measures: every method of the paper by its name (``catalogue``), and its definitions."""

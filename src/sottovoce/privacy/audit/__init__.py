"""Checks that the noise keeps its promise, and that the checks would notice if it did not."""

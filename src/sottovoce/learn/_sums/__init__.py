"""Secure sums (SM.ADD of Private Text Classification): the sum is learned, no summand is."""

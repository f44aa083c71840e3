"""Secure sums (SM.ADD of Private Text Classification): the sum is learned, no summand is.

Two ways: under pairwise masks (`masked_sum`, `mask_peer`, their `keys`), or round a `ring`.
`fixed` has the numbers that are added; `total` runs a whole sum in one process.
"""

"""Secure sums (SM.ADD of Private Text Classification): the sum is learned, no summand is.

Three ways: under pairwise masks (`masked_sum`, `mask_peer`, their `keys`), by `packed` Paillier
with a key holder, or round a `ring`. `_fixed` has the numbers that are added; `total` runs a whole
sum in one process.
"""

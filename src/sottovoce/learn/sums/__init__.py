"""Secure sums (SM.ADD of Private Text Classification): the sum is learned, no summand is.

Under pairwise masks: `masked_sum`, its `keys`; `fixed` has the numbers.
"""

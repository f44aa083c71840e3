"""Topics of released counts, read by the law of their noise.

Begin with `_estimator`. Cells above zero are kept (`_positive`); what each says of its count gives
pairs of words (`_expected`), pairs a first set of topics (`_start`), and `_refine` improves them by
the likelihood of every cell, with the sums of `_kernels`.
"""

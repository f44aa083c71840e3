"""What a release says, read by the law of its noise.

Begin with `_moments`: unbiased sums over the documents, from which all else follows. `_totals` and
`_pairs` show them with intervals, `_meter` says how many dimensions stand above the noise, and
`_summary` puts these together. All of it is free post-processing of what was published.
"""

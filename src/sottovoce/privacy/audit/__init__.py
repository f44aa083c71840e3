"""Checks that the noise keeps its promise, and that the checks would notice if it did not.

`_sampler` is the whole audit of the noise at one claim; `_black_box` bounds epsilon from below by
experiment, and `_findings` is what an audit returns, with the checks on repeated and porous noise.
`_shares` audits a party's share of noise, and `_sums` what a sum of such shares opens.
`_lines` asks of published counts what holds for any documents. `_law` tests noise that is known,
because the counts are, in all `_classes` of cells, `_reuse` looks in it for noise that is shared,
and `_repeats` for draws of one key that come again.
"""

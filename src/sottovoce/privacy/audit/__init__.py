"""Audits: what tries to refute a claim of privacy.

`sampler` is the whole audit of the noise at one claim; `black_box` bounds epsilon from below by
experiment, and `findings` is what an audit returns, the classes of cells that it looks at, and the
checks on repeated and porous noise. `sums` audits a party's share of noise and what a sum of such
shares opens. `lines` asks of published counts what holds for any documents. `law` tests noise that
is known, because the counts are; `_reuse` looks in it for noise that is shared or comes again.
"""

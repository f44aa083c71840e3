"""The two trust modes, each saying who sees what.

**Open**: only sums over all peers are opened, and everybody has the classifier. The coordinator
sees which peers have which features, how many documents and peers use each, then the sums over all
peers of what ridge needs, and theta; never a peer's own sums. Every peer sees the counts and theta,
and classifies by itself, asking nobody. Features that fewer than five documents or two peers use
are left out before anything is opened. From the sums our own attacks read no long document; that is
measured and not proven, so that this mode promises nothing: only hidden and `count` do. To learn a
single peer's sums takes the coordinator and two thirds of the peers together; and all peers but
one, with the coordinator, always know the last one's.

**Hidden**: nobody sees the sums or the classifier; queries are answered together. The coordinator
has ciphertexts and no key to them, the key holder a key and only uniform numbers to open; each ends
with a uniform share of theta. Both learn who asks, and for how many rows. The coordinator learns
which peers have which features, and like every peer each feature's counts, mean and variance. A
peer has theta under encryption only, and learns the signs of its own queries, which are limited by
a budget (`learn.query_budget`), since many signs give theta away. Coordinator and key holder
together learn everything: they must be parties that do not collude.

`open` and `hidden` are the trainings, on `sums` that `guard` lets be opened. `hidden_solve` puts
the two solves of `learn.solve` behind one interface; `queries` are answered by the `comparison` of
two numbers that nobody sees.
"""

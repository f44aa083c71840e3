"""The open mode: only sums over all peers are opened, and everybody has the classifier.

Who sees what. The coordinator sees how many documents and peers use each feature, then the sums
over all peers of what ridge needs, and theta; never a peer's own sums. Every peer sees the same
counts and theta, and classifies by itself, asking nobody. Features that fewer than five documents
or two peers use are left out before anything is opened. It takes the coordinator and two thirds of
the peers (with a key holder: coordinator and key holder) together to learn one peer's sums.

`_train` is the training, `_sums` a secure sum as one stage of it, `_blocks` the training of peers
with different features whose entities nobody can match: there the coordinator sees each peer's
sums over blocks of at least five rows.
"""

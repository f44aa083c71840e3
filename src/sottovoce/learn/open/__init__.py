"""The open mode: only sums over all peers are opened, and everybody has the classifier.

Who sees what. The coordinator sees which peers have which features, how many documents and peers
use each, then the sums over all peers of what ridge needs, and theta; never a peer's own sums.
Every peer sees the counts and theta, and classifies by itself, asking nobody. Features that fewer
than five documents or two peers use are left out before anything is opened. From the sums our own
attacks read no long document; that is measured and not proven, so that this mode promises nothing:
only `hidden` and `count` do. To learn a single peer's sums takes the coordinator and two thirds of
the peers together; and all peers but one, with the coordinator, always know the last one's.

`train` is the training, `sums` a secure sum as one stage of it.
"""

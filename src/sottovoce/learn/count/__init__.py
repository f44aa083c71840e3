"""Count together: one noised secure sum over all peers' documents, each document hidden whole.

Begin with `count_together`: one call, which gives back a `TogetherCounts`. Every document casts a
few votes, each peer adds up those of its documents and its share of the noise, and only the sum
over all peers is opened (`run.count`). `recipe` says how many votes, how much noise, how many peers
may drop out or collude, and what then holds; `spend` that it is paid for before noise is drawn,
`opened` what comes out. `reading` reads topics and a classifier from it.

Who sees what. The coordinator and every peer see the opened sum, which is pure differentially
private for adding or removing a whole document. Nobody sees a peer's own sum, or how many documents
it has.
"""

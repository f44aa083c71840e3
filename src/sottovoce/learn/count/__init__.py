"""Count together: one noised secure sum over all peers' documents, each document hidden whole.

Every document casts a few votes (`_votes`), each peer adds up those of its documents and its share
of the noise (`_shares`), and only the sum over all peers is opened. `_recipe` says how many votes,
how much noise, and how many peers may drop out or collude; `_promise` what then holds, `_spend`
that it is paid for before noise is drawn, `_sum` how the parties add, `_opened` what comes out.

Who sees what. The coordinator and every peer see the opened sum, which is pure differentially
private for adding or removing a whole document. Nobody sees a peer's own sum, or how many documents
it has.
"""

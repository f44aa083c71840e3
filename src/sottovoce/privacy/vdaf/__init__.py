"""Counting what nobody sees: Prio3 of draft-irtf-cfrg-vdaf, by which servers add up secret shares.

Each report comes with a proof that both servers check together, so that a client can change a
histogram by one valid bucket and by nothing else, and no server alone learns which one. Begin with
`prio3`, the steps and the bytes of its messages; `_circuits` says what is valid, `_proof` proves
it; beneath lie `_xof` and `field`. No module does I/O.
"""

"""Arithmetic between one who holds ciphertexts and one who holds the key.

Every protocol is two scripts: ``ask_...`` for the ciphertext holder, ``answer_...`` for the key
holder; `_wire.script.Pairing` makes state machines of them, `run_together` plays both. Here is what
the hidden mode needs: how masked numbers are `shown`, the bitwise `comparison`, and the `sign` made
of both. Products, inverses and exponentials, which only the paper's solvers use, are in `paper`.
"""

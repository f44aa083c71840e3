"""Arithmetic between one who holds ciphertexts and one who holds the key.

Every protocol is two scripts: ``ask_...`` for the ciphertext holder, ``answer_...`` for the key
holder. `Pairing` makes state machines of them, and `run_together` plays both in one process.
"""

"""Paillier for vectors: keys, packed fixed-point arrays, and arithmetic on them.

Begin with `keys`, then `slots` (how wide a slot must be, proven beforehand) and `array` (encrypted
arrays in numpy's shapes). `wire` encrypts, decrypts and sends arrays, `key_files` keeps keys.
`blinding` and `grid` are the arithmetic beneath.
"""

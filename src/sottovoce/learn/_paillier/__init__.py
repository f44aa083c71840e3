"""Paillier for vectors: keys, packed fixed-point arrays, and arithmetic on them."""

"""Ours and the peers: the same work in the same run, a bench a file.

`rows` has the form of every result and how things are timed.
"""

"""Ours and the peers: the same work in the same run."""

"""Ours and the peers: same work, same run."""

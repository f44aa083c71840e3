"""The open mode: only sums over all peers are opened, and everybody has the classifier."""

"""What the studies of `learn` share."""

"""Studies of scale: what a community of millions costs."""

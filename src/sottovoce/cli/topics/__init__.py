"""``sottovoce topics``: its commands."""

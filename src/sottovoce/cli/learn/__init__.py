"""``sottovoce learn``: its commands."""

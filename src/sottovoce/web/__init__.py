"""The advisor page and the rank server: thin, they parse, call and show."""

"""The advisor page: where one person stands, on her own machine."""

"""The advisor page: where one person stands, on their own machine."""

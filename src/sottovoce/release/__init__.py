"""Word counts published under limited-precision local privacy."""

"""The first-person space: which words surround a topic when people speak of themselves."""

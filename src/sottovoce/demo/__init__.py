"""Everything on a simulated community, ending in one report."""

"""Studies, each a table or figure of the papers, and benches against the peers."""

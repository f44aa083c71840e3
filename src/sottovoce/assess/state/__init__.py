"""What is kept of a community between updates: mergeable, appendable, erasable."""

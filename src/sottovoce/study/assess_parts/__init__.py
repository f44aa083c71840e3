"""What the studies of the assess tables and figures share."""

"""What the release studies share."""

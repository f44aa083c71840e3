"""What a sketch of ranks is made of: an exact top, a compacted body, and their bytes."""

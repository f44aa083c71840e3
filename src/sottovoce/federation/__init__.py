"""The parties of `learn` as processes that carry bytes."""

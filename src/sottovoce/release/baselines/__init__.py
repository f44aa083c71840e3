"""What the paper compares with, kept apart: floats live here, and nothing here is ever released."""

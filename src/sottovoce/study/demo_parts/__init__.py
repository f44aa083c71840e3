"""What the demo's assess part is made of."""

"""What the closed loop is made of."""

"""What protocol parties are made of: messages, inboxes, leakage, and a way to run them."""

"""Posts and documents in; tokens, vocabulary and count matrices out; simulated communities."""

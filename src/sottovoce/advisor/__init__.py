"""Where one person stands: her score stays with her, and a server tells ranks without it."""

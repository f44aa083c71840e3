"""What `learn init` writes and every party reads: configuration, roster, secrets."""

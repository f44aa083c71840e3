"""What a party must not forget: its runs in SQLite, sealed."""

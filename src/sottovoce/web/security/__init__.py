"""What a page of ours refuses and which headers it sends; nothing here knows what it shows."""

"""Who in a community stands out on a sensitive topic, and why."""

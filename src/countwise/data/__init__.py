"""From tables as they are to small integers."""

"""Random numbers by explicit key."""

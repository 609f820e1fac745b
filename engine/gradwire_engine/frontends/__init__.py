"""From what clients write to programs."""

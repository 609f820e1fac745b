"""Many elements become one, or are measured by each other."""

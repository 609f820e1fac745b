"""From a program and input types to a tape."""

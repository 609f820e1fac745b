"""Functions of numbers, element by element."""

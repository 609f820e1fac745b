"""Functions of other libraries that decide by values or take functions, recorded as executed."""

"""Python functions of NumPy arrays as programs: recorded, differentiated and mapped."""

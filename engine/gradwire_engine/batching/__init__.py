"""Recording again what is on the tape: of other operands, or for many examples at once."""

"""What may be wrong with an answer: non-finite values, lost digits, gradients unlike slopes."""

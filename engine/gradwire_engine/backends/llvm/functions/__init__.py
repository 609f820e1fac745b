"""Elementary and special functions of vectors and of numbers, as LLVM text."""

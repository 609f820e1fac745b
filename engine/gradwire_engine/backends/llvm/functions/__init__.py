"""Elementary and special functions of vectors, as LLVM text."""

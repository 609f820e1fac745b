"""Machine code for kernels, by LLVM."""

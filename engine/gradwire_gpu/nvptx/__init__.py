"""GPU code: kernels as LLVM's intermediate representation for NVPTX, and that as PTX."""

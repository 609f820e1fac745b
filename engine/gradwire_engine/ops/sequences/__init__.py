"""Elements in order: sorted, accumulated, tabulated."""

"""Tasks: how one is described, and how it is run, here or in a worker process."""

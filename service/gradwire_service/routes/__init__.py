"""The routes of the service itself, and how all routes have tasks run."""

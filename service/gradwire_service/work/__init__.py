"""Handlers of tasks: the same in the service's process and in worker processes."""

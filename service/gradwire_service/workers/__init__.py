"""Executors of tasks: worker processes, or threads in an embedded service."""

"""Errors that stop a command before it starts."""


class StartupError(Exception):
    """A command cannot start; the message is for the operator."""

"""Why a service does not start."""


class NotStarted(Exception):
    """Why a command ends before it began, in words for whoever gave it."""

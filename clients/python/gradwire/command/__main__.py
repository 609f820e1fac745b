"""The entry point of the command ``gradwire``, also as ``python -m gradwire.command``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from gradwire.command.exit_codes import ExitCode

#: The libraries of the extra, which the SDK itself does not need.
NEEDED = ("click", "rich")


def main() -> int:
    """Run the command; without its libraries, say how they are installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        needed = " and ".join(missing)
        sys.stderr.write(f"error: the command gradwire needs {needed}, not installed here\n")
        sys.stderr.write("  hint: pip install 'gradwire[cli]'\n")
        return ExitCode.NOT_INSTALLED
    try:
        from gradwire.command.application import application

        return application.run()
    except KeyboardInterrupt:  # before or after what Click runs
        return ExitCode.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())

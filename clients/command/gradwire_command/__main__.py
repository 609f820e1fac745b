"""The entry point of the command ``gradwire``, also as ``python -m gradwire_command``."""

from __future__ import annotations

import sys

from gradwire_command.exit_codes import ExitCode


def main() -> int:
    """Run the command; Ctrl-C before or after what Click runs ends it quietly, too."""
    try:
        from gradwire_command.application import application

        return application.run()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())

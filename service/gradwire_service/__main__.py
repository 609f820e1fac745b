"""The command ``gradwire-server``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gradwire_service import __version__
from gradwire_service.access import command as keys_command
from gradwire_service.settings import Settings
from gradwire_service.settings.reading import read_settings
from gradwire_service.settings.starting import NotStarted


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, whose options stand above the environment's settings."""
    parser = argparse.ArgumentParser(
        prog="gradwire-server", description="A service that differentiates programs."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="answer requests until stopped")
    for name, field in Settings.model_fields.items():
        option = "--" + name.replace("_", "-")
        serving.add_argument(option, metavar="VALUE", help=field.description)
    keys_command.add_arguments(commands.add_parser("keys", help="make and list API keys"))
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "keys":
            keys_command.run(asked)
        else:
            given = {name: text for name, text in vars(asked).items() if text is not None}
            del given["command"]
            settings = read_settings(given)
            from gradwire_service.serving import serve  # which takes a second: not for the others

            serve(settings)
    except NotStarted as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")


if __name__ == "__main__":
    main()

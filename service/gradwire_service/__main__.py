"""The command ``gradwire-server``."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from gradwire_service import __version__
from gradwire_service.access import command as keys_command
from gradwire_service.settings import Settings
from gradwire_service.settings.derived import source_of
from gradwire_service.settings.errors import StartupError
from gradwire_service.settings.memory import default_processes
from gradwire_service.settings.own_store import is_named, own_store
from gradwire_service.settings.reading import read_settings
from gradwire_service.watchdog import Heartbeat, watched
from gradwire_service.workers import forking

_NAME = "gradwire-server"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, whose options stand above the environment's settings."""
    parser = argparse.ArgumentParser(
        prog=_NAME, description="A service that differentiates programs."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="answer requests until stopped")
    for name, field in Settings.model_fields.items():
        option = "--" + name.replace("_", "-")
        shown = field.description if source_of(field) is None else argparse.SUPPRESS
        serving.add_argument(option, metavar="VALUE", help=shown)
    keys_command.add_arguments(commands.add_parser("keys", help="make and list API keys"))
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "keys":
            keys_command.run(asked)
        else:
            given = {name: text for name, text in vars(asked).items() if text is not None}
            del given["command"]
            if not is_named(given, os.environ):
                given["store"], _ = own_store(os.environ)
            settings = read_settings(given)
            if "processes" not in settings.model_fields_set:
                settings = read_settings({**given, "processes": default_processes(vars(settings))})
            parser.exit(watched(_serve, settings))
    except StartupError as error:
        parser.exit(_fail(error))


def _serve(settings: Settings, heartbeat: Heartbeat | None) -> int:
    gc.disable()  # until all is imported, which stays
    try:
        if settings.processes:
            forking.start(settings)
        from gradwire_service.serving import serve  # which takes a second: not for the others

        return serve(settings, heartbeat)
    except StartupError as error:
        return _fail(error)


def _fail(error: StartupError) -> int:
    """Print the error; returns the exit status."""
    sys.stderr.write(f"{_NAME}: error: {error}\n")
    return 2


if __name__ == "__main__":
    main()

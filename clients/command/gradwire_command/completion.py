"""``gradwire completion``: the script by which a shell completes the command."""

from __future__ import annotations

import click

from gradwire_command.problems import InputProblem

VARIABLE = "_GRADWIRE_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help="The script for a shell's completion.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes commands, options, files and operations.

    \b
      eval "$(gradwire completion bash)"   in ~/.bashrc
      eval "$(gradwire completion zsh)"    in ~/.zshrc
      gradwire completion fish > ~/.config/fish/completions/gradwire.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise InputProblem(f"there is no completion for {shell}")
    root = click.get_current_context().find_root()
    click.echo(kind(root.command, {}, "gradwire", VARIABLE).source())

"""Distributions that add to the package ``gradwire``; of a missing one, an import says its name."""

from __future__ import annotations

#: The distribution of each module that is not in this one.
DISTRIBUTIONS = {"gradwire.tf": "gradwire-tf", "gradwire.tfe": "gradwire-tf"}


class InstallHintFinder:
    """The last finder of modules: it is asked only for what the others have not found."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise for a module of a missing distribution; find nothing."""
        distribution = DISTRIBUTIONS.get(name)
        if distribution is None:
            return
        from gradwire.errors import NotInstalled  # noqa: PLC0415 - which imports httpx

        # Not named after the module: `from gradwire import tf` hides that error (bpo-17636).
        raise NotInstalled(
            f"{name} is in a distribution of its own, {distribution}",
            hint=f"pip install {distribution}",
            name=distribution,
        )

"""nginx with the shipped configuration, in front of replicas on this machine."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

CONFIGURATION = Path(__file__).parents[2] / "deploy/nginx"

#: The path of nginx; Debian installs it in a folder on root's path only.
NGINX = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))

#: Consecutive lines that name replicas by DNS, which nginx before 1.27.3 does not support.
_SERVERS = re.compile(r"(?:^ +server \S+ resolve(.*;)\n)+", re.MULTILINE)


#: A port where nobody listens: no replica has a GPU, unless tests say so.
_NOWHERE = "127.0.0.1:1"


def upstream(addresses: Sequence[str], with_gpus: Sequence[str] = ()) -> str:
    """The shipped upstreams with replicas at these addresses, and others ``with_gpus``."""
    text = (CONFIGURATION / "upstream.conf").read_text()
    text, resolvers = re.subn(r"^resolver .*\n", "", text, flags=re.MULTILINE)

    def named(servers: re.Match[str]) -> str:
        named = (with_gpus or [_NOWHERE]) if "gradwire-gpu-" in servers[0] else addresses
        return "".join(f"    server {address}{servers[1]}\n" for address in named)

    text, places = _SERVERS.subn(named, text)
    assert (resolvers, places) == (1, 3)
    return text


def configure(
    prefix: Path, ports: Sequence[int], listen: int, gpu_ports: Sequence[int] = ()
) -> list[str]:
    """Write the configuration for these replicas below ``prefix``; returns the command."""
    assert NGINX is not None
    for source in CONFIGURATION.glob("*.conf"):
        shutil.copy(source, prefix)
    main = prefix / "gradwire.conf"
    text = main.read_text()
    assert text.count("listen 8080;") == 1
    main.write_text(text.replace("listen 8080;", f"listen 127.0.0.1:{listen};"))
    addresses, with_gpus = [[f"127.0.0.1:{port}" for port in some] for some in (ports, gpu_ports)]
    (prefix / "upstream.conf").write_text(upstream(addresses, with_gpus))
    # If root starts nginx, its workers run as a user who may not write below the prefix.
    directives = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
    return [NGINX, "-e", "stderr", "-p", f"{prefix}/", "-c", f"{main}", "-g", directives]

"""Ports for servers that insist on TCP: on loopback, free, side by side."""

from __future__ import annotations

import random
import socket

from experiments.model import UserError

PORTS = range(20_000, 32_000)
"""Below those that the system gives to outgoing connections, one of which could take a port during a restart."""


def free_ports(count: int) -> tuple[int, ...]:
    """Neighbours that nobody listens on: openGauss takes the port after its own without asking."""
    for first in random.sample(PORTS, len(PORTS)):
        ports = tuple(range(first, first + count))
        if all(_is_free(port) for port in ports):
            return ports
    raise UserError(f"no {count} free ports side by side on loopback from {PORTS.start} on", 4)


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

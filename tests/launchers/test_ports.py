"""Ports are side by side, and nobody has them."""

from __future__ import annotations

import socket

import pytest

from experiments.model import UserError
from tasks.launchers import ports
from tasks.launchers.ports import free_ports


def test_a_port_that_is_taken_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "PORTS", range(port - 1, port + 1))
        with pytest.raises(UserError, match="no 2 free ports side by side"):
            free_ports(2)


def test_ports_are_neighbours_and_free() -> None:
    first, second, third = free_ports(3)
    assert (second, third) == (first + 1, first + 2)
    for port in (first, second, third):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))

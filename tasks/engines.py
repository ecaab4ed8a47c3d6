"""SQLAlchemy engines for the whole PostgreSQL family, those whose version text SQLAlchemy cannot parse included."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}


class FamilyDialect(PGDialect_psycopg):
    """PostgreSQL over psycopg 3, with the protocol's version where ``version()`` does not begin with PostgreSQL.

    SQLAlchemy raises ``AssertionError: Could not determine version from string`` on openGauss and LightDB.
    """

    supports_statement_cache = True

    def _get_server_version_info(self, connection: Any) -> Any:
        try:
            return super()._get_server_version_info(connection)  # type: ignore[no-untyped-call]
        except AssertionError:
            number = connection.connection.driver_connection.info.server_version
            return (number // 10_000, number // 100 % 100, number % 100)


registry.register("postgresql.family", "tasks.engines", "FamilyDialect")


def family_engine(url: URL, connect_timeout: int = 10) -> Engine:
    """An engine without a pool: each connection is one server process that we can name and measure.

    ``prepare_threshold`` None, since servers before PostgreSQL 10 are outside what psycopg 3 prepares for.
    """
    return create_engine(
        url.set(drivername="postgresql+family"),
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        connect_args={"prepare_threshold": None, "connect_timeout": connect_timeout, **KEEPALIVE},
    )

"""Extensions that a measurement needs: found where they are, or created in our schema, which takes them along."""

from __future__ import annotations

from tasks.context import CellContext
from tasks.errors import StatementFailed


def missing(context: CellContext, names: tuple[str, ...]) -> str | None:
    """Make the functions of these extensions callable; why that is not possible, or None."""
    return next((reason for name in names if (reason := _missing(context, name)) is not None), None)


def _missing(context: CellContext, name: str) -> str | None:
    dialect, session = context.dialect, context.session
    look_up = dialect.extension_schema_sql(name)
    create = dialect.extension_sql(name)
    if look_up is None or create is None or name not in dialect.capabilities.extensions:
        return f"{context.cell.target} has no extension {name}"
    with session.lightly():
        schema = session.value(look_up)
    if schema is None:
        try:
            session.execute(create)
        except StatementFailed as error:
            return f"extension {name} cannot be created: {error}"
        schema = session.value(look_up)
    with session.lightly():
        session.execute(dialect.add_to_path_sql(str(schema)))
    return None

"""The schema that the running program needs."""

from tradecounter.cli.session import refuse
from tradecounter.db.schema_state import SchemaState, schema_state


def require_current_schema(url: str) -> SchemaState:
    """Return the schema's state; refuse to go on with a database that is not migrated."""
    state = schema_state(url)
    if not state.current:
        found = state.revision or "(none)"
        refuse(f"the schema is at revision {found}, not {state.newest}: run `tradecounter db upgrade`")
    return state

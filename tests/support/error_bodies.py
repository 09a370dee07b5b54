"""What the body of an error has to be."""

from typing import Any


def error_body(code: str, message: str, **fields: str) -> dict[str, Any]:
    """Return the body of an error; `fields` are the messages of the wrong fields, which have the code too."""
    errors = [{"field": field, "message": problem, "code": code} for field, problem in fields.items()]
    return {"message": message, "code": code} | ({"errors": errors} if errors else {})

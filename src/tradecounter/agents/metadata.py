"""The metadata of `/mcp` as a protected resource (RFC 9728), and the challenges that lead there (RFC 6750)."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tradecounter.agents.rules import SCOPES, AgentScope
from tradecounter.consent.keys import issuer_name

PATH = "/mcp"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


class ResourceMetadata(Struct):
    """What agents need to know to ask a customer for access to `/mcp`."""

    resource: Annotated[str, Meta(description="The address of the agents' server.")]
    authorization_servers: Annotated[list[str], Meta(description="The issuer of its tokens.")]
    scopes_supported: Annotated[list[AgentScope], Meta(description="What an agent can ask for.")]
    bearer_methods_supported: Annotated[list[Literal["header"]], Meta(description="Tokens come in `Authorization`.")]
    resource_name: Annotated[str, Meta(description="Its name for people.")]
    resource_documentation: Annotated[str, Meta(description="The guide.")]


def resource_of(base_url: str) -> str:
    """Return the name of `/mcp` as a resource (RFC 8707)."""
    return f"{base_url}{PATH}"


def resource_metadata(base_url: str, seller: str) -> ResourceMetadata:
    """Return the metadata of the service at a base URL."""
    return ResourceMetadata(
        resource=resource_of(base_url),
        authorization_servers=[issuer_name(base_url)],
        scopes_supported=list(SCOPES),
        bearer_methods_supported=["header"],
        resource_name=f"Ordering at {seller}",
        resource_documentation=f"{base_url}/guide#let-an-agent-order",
    )


def challenge(base_url: str, scopes: Sequence[str], error: str = "") -> str:
    """Return a challenge, which says where the metadata is and which scopes to ask for."""
    parts = {
        "error": error,
        "scope": " ".join(scopes),
        "resource_metadata": f"{base_url}{WELL_KNOWN}{PATH}",
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)

"""What agents need before they may ask a customer: the metadata of `/mcp` (RFC 9728), and registration (RFC 7591)."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.access.guessing import Attempt, count_attempt
from tradecounter.agents.queries import AgentClient, count_registered, find_client, insert_client, store_read
from tradecounter.agents.rules import (
    FRESH_FOR,
    LONGEST_NAME,
    MOST_REGISTRATIONS,
    REGISTRATION_WINDOW,
    SCOPES,
    AgentScope,
)
from tradecounter.consent.issuer import issuer_name
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.outbound_http import HttpSender, NotSentError
from tradecounter.identity.oauth.manage_applications import check_redirect_uris
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.json_text import read_json
from tradecounter.kit.text import one_line

MCP_PATH = "/mcp"
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
    return f"{base_url}{MCP_PATH}"


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
    parts = {"error": error, "scope": " ".join(scopes), "resource_metadata": f"{base_url}{WELL_KNOWN}{MCP_PATH}"}
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


_MOST_BYTES = 10 * 1024  # of a document
_SECONDS = 5.0
_UNAUTHENTICATED = "none"


class ClientMetadata(Struct):
    """What a client says of itself."""

    redirect_uris: Annotated[
        list[str], Meta(description="Where browsers go back to: https, or http on the person's own computer.")
    ]
    client_name: Annotated[str | UnsetType, Meta(description="Its name for people.")] = UNSET


class ClientDocument(ClientMetadata):
    """The document at a client's id."""

    client_id: str = ""
    token_endpoint_auth_method: str = _UNAUTHENTICATED


RegistrationProblem = Literal["invalid_redirect_uri", "invalid_client_metadata"]


class RegistrationError(Exception):
    """A client cannot be registered."""

    def __init__(self, code: RegistrationProblem, description: str) -> None:
        super().__init__(description)
        self.code: RegistrationProblem = code
        self.description = description


async def register_client(tx: Transaction, wanted: ClientMetadata, address: str, now: datetime) -> AgentClient:
    """Register a client. Raises RegistrationError, and DomainError (too many requests from the address)."""
    name = _checked(wanted)
    if await count_registered(tx, address, now - REGISTRATION_WINDOW) >= MOST_REGISTRATIONS:
        seconds = int(REGISTRATION_WINDOW.total_seconds())
        message = f"more than {MOST_REGISTRATIONS} clients were registered from your address: try again in an hour"
        raise DomainError(Kind.TOO_MANY_REQUESTS, message, retry_after=seconds)
    client_id = secrets.token_hex(16)
    await insert_client(tx, client_id, name, wanted.redirect_uris, address, now)
    return AgentClient(client_id=client_id, name=name, redirect_uris=wanted.redirect_uris, created_at=now, read_at=None)


class ClientDocuments(Struct):
    """Reads the documents of clients; what was read is kept in the database for an hour."""

    database: Database
    clock: Clock
    sender: HttpSender

    async def client(self, client_id: str, user_id: int) -> AgentClient:
        """Return the client whose id is the address of its document; a user has it read.

        Raises DomainError: invalid, too many requests (the user has had many documents read).
        """
        now = self.clock.now()
        async with reading(self.database) as tx:
            record = await find_client(tx, client_id)
        if record is not None and record.read_at is not None and record.read_at > now - FRESH_FOR:
            return record
        async with transaction(self.database) as tx:
            await count_attempt(tx, Attempt.for_link(f"user {user_id}"), now)
        document, name = await self._read(client_id)  # without a database connection
        async with transaction(self.database) as tx:
            await store_read(tx, client_id, name, document.redirect_uris, now)
        return AgentClient(
            client_id=client_id, name=name, redirect_uris=document.redirect_uris, created_at=now, read_at=now
        )

    async def _read(self, client_id: str) -> tuple[ClientDocument, str]:
        """Return the document and the client's name. Raises DomainError (invalid)."""
        try:
            document = read_json(await self.sender.read(client_id, _MOST_BYTES, _SECONDS), ClientDocument)
            _check_document(document, client_id)
            return document, _checked(document)
        except (NotSentError, RegistrationError) as error:
            problem = str(error)
        except DomainError as error:
            problem = error.message
        raise DomainError(Kind.INVALID, f"the document of the program at {client_id} cannot be used: {problem}")


def _check_document(document: ClientDocument, client_id: str) -> None:
    """Raise RegistrationError for a document that does not describe the client."""
    if document.client_id != client_id:
        raise RegistrationError("invalid_client_metadata", "its client_id is another address")
    if document.token_endpoint_auth_method != _UNAUTHENTICATED:
        raise RegistrationError("invalid_client_metadata", f"token_endpoint_auth_method: must be {_UNAUTHENTICATED}")


def _checked(wanted: ClientMetadata) -> str:
    """Return a client's name. Raises RegistrationError."""
    if not wanted.redirect_uris:
        raise RegistrationError("invalid_redirect_uri", "redirect_uris: must have at least one address")
    try:
        check_redirect_uris(wanted.redirect_uris)
    except DomainError as error:
        raise RegistrationError("invalid_redirect_uri", error.message) from error
    if wanted.client_name is UNSET:
        return "An unnamed program"
    name = one_line(wanted.client_name)
    try:
        require_text("client_name", name, LONGEST_NAME)
    except DomainError as error:
        raise RegistrationError("invalid_client_metadata", error.message) from error
    return name

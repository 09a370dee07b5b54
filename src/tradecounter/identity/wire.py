"""The form and the responses of the token endpoint (RFC 8693; specification, section 4)."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.edge.rest.parameters import form_decoded
from tradecounter.kit.errors import DomainError
from tradecounter.kit.validation_messages import field_errors_of

Form = TypeVar("Form", bound=Struct)
ErrorCode = Literal["invalid_request", "invalid_client", "invalid_grant", "invalid_target", "unsupported_grant_type"]
GrantType = Literal["urn:ietf:params:oauth:grant-type:token-exchange"]
JwtType = Literal["urn:ietf:params:oauth:token-type:jwt"]
AccessTokenType = Literal["urn:ietf:params:oauth:token-type:access_token"]

GRANT_TYPE: GrantType = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN: AccessTokenType = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 the name of a type


class OAuthRequestError(Exception):
    """An error with a code of OAuth; the description is for developers of the client."""

    def __init__(self, code: ErrorCode, description: str | None = None) -> None:
        super().__init__(code)
        self.code: ErrorCode = code
        self.description = description


class InvalidClientError(OAuthRequestError):
    """Wrong client credentials were presented."""

    def __init__(self) -> None:
        super().__init__("invalid_client")


class TokenRequest(msgspec.Struct):
    """The form of `POST /oauth/token`."""

    grant_type: Annotated[GrantType, Meta(description="The only supported value.")]
    subject_token: Annotated[str, Meta(description="A JWT from the issuer that proves the customer's consent.")]
    subject_token_type: Annotated[JwtType, Meta(description="The only supported value.")]
    requested_token_type: Annotated[
        AccessTokenType | msgspec.UnsetType, Meta(description="Optional; this is the only supported value.")
    ] = msgspec.UNSET
    resource: Annotated[str | msgspec.UnsetType, Meta(description="If sent, the API's base URL.")] = msgspec.UNSET
    client_id: Annotated[str | msgspec.UnsetType, Meta(description="Required unless the request uses HTTP Basic.")] = (
        msgspec.UNSET
    )
    client_secret: Annotated[
        str | msgspec.UnsetType, Meta(description="Required unless the request uses HTTP Basic.")
    ] = msgspec.UNSET


class ClientCredentials(Struct, frozen=True):
    """An application's id and secret, as presented."""

    client_id: str
    client_secret: str


def read_token_request(fields: Mapping[str, str]) -> TokenRequest:
    """Return the request in a form. Raises OAuthRequestError (invalid_request, unsupported_grant_type)."""
    if fields.get("grant_type", GRANT_TYPE) != GRANT_TYPE:
        raise OAuthRequestError("unsupported_grant_type", f"grant_type: must be {GRANT_TYPE}")
    return read_form(fields, TokenRequest)


def read_form(fields: Mapping[str, str], form: type[Form]) -> Form:
    """Return the fields of a form as a struct. Raises OAuthRequestError (invalid_request)."""
    try:
        return msgspec.convert(fields, form)
    except msgspec.ValidationError as error:
        errors = field_errors_of(fields, form)
        raise OAuthRequestError("invalid_request", "; ".join(map(str, errors))) from error


def client_credentials(authorization: Sequence[str], fields: Mapping[str, str]) -> ClientCredentials:
    """Return the client's credentials, from HTTP Basic or from the form (RFC 6749, section 2.3.1).

    Raises OAuthRequestError: invalid_client without credentials, invalid_request with more than one. Raises
    InvalidClientError when they are malformed. The form may repeat the id of HTTP Basic.
    """
    basics = [value for value in authorization if value.partition(" ")[0].lower() == "basic"]
    client_id, client_secret = fields.get("client_id"), fields.get("client_secret")
    if not basics:
        if client_id is None or client_secret is None:
            raise OAuthRequestError("invalid_client", "client credentials are required: use HTTP Basic or form fields")
        return ClientCredentials(client_id, client_secret)
    if len(basics) > 1 or client_secret is not None:
        raise OAuthRequestError("invalid_request", "client credentials are sent more than once")
    credentials = _read_basic(basics[0].partition(" ")[2].strip())
    if client_id not in {None, credentials.client_id}:
        raise OAuthRequestError("invalid_request", "client_id: differs from the id in HTTP Basic")
    return credentials


def _read_basic(encoded: str) -> ClientCredentials:
    try:
        user, colon, password = base64.b64decode(encoded.encode(), validate=True).partition(b":")
        if not colon:
            raise InvalidClientError
        return ClientCredentials(form_decoded(user), form_decoded(password))
    except (binascii.Error, ValueError, DomainError) as error:
        raise InvalidClientError from error


class AccessToken(Struct):
    """An access token for one customer."""

    access_token: Annotated[str, Meta(min_length=64, max_length=64, description="Opaque; send it as a bearer token.")]
    issued_token_type: Annotated[AccessTokenType, Meta(description="The only supported value.")]
    token_type: Annotated[Literal["Bearer"], Meta(description="Send it as `Authorization: Bearer`.")]
    expires_in: Annotated[int, Meta(description="Seconds until it expires.")]


class OAuthError(Struct):
    """Why the request is rejected (RFC 6749, section 5.2)."""

    error: Annotated[ErrorCode, Meta(description="The reason.")]
    error_description: Annotated[str | UnsetType, Meta(description="Details for developers of the client.")] = UNSET

"""The responses of the token endpoint; its form is in `token_request.py` (specification, section 4)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.identity.oauth.token_request import AccessTokenType, ErrorCode


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

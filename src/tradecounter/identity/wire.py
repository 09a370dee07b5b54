"""What the token endpoint responds with; its form is in `token_request.py` (specification, section 4)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.identity.oauth.token_request import AccessTokenType, ErrorCode


class AccessToken(Struct):
    """A token that stands for a customer for a while."""

    access_token: Annotated[str, Meta(min_length=64, max_length=64, description="Opaque; send it as bearer token.")]
    issued_token_type: Annotated[AccessTokenType, Meta(description="Always the same.")]
    token_type: Annotated[Literal["Bearer"], Meta(description="Send it as `Authorization: Bearer`.")]
    expires_in: Annotated[int, Meta(description="Seconds until it expires.")]


class OAuthError(Struct):
    """Why there is no token (RFC 6749, section 5.2)."""

    error: Annotated[ErrorCode, Meta(description="The reason.")]
    error_description: Annotated[str | UnsetType, Meta(description="For whoever writes the client.")] = UNSET

"""The forms, responses and documents of the own issuer (RFC 6749, RFC 7009, RFC 8414)."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.consent.issuer import issuer_name
from tradecounter.identity.wire import JwtType

ConsentGrantType = Literal["authorization_code", "refresh_token"]

_CLIENT = "Required unless the request uses HTTP Basic."


class ConsentRequest(Struct):
    """The form of `POST /auth/token`."""

    grant_type: Annotated[ConsentGrantType, Meta(description="What you have: a code or a refresh token.")]
    code: Annotated[str | UnsetType, Meta(description="The code; required with `authorization_code`.")] = UNSET
    redirect_uri: Annotated[
        str | UnsetType, Meta(description="The code's redirect URI; required with `authorization_code`.")
    ] = UNSET
    code_verifier: Annotated[
        str | UnsetType,
        Meta(description="The secret whose hash is the code's challenge; required with `authorization_code`."),
    ] = UNSET
    refresh_token: Annotated[
        str | UnsetType, Meta(description="The latest refresh token; required with `refresh_token`.")
    ] = UNSET
    resource: Annotated[
        str | UnsetType,
        Meta(description="What the token is for, if sent: the base URL, or of agents the address of `/mcp`."),
    ] = UNSET
    client_id: Annotated[str | UnsetType, Meta(description=_CLIENT)] = UNSET
    client_secret: Annotated[str | UnsetType, Meta(description=_CLIENT)] = UNSET


class ConsentToken(Struct):
    """A customer's consent, which `POST /oauth/token` exchanges for an access token, and a token to renew it.

    An agent gets an access token for `/mcp` instead.
    """

    access_token: Annotated[
        str,
        Meta(
            description="The consent, a JWT: the `subject_token` of `POST /oauth/token`. Of an agent: its opaque "
            "access token, which `/mcp` alone accepts."
        ),
    ]
    token_type: Annotated[
        Literal["Bearer"], Meta(description="What OAuth libraries expect; the API accepts no consent as its token.")
    ]
    expires_in: Annotated[int, Meta(description="Seconds until the consent, or the access token, expires.")]
    refresh_token: Annotated[
        str, Meta(min_length=64, max_length=64, description="Good once; the response to its use has the next one.")
    ]
    issued_token_type: Annotated[JwtType | UnsetType, Meta(description="Of a consent; the only supported value.")] = (
        UNSET
    )
    scope: Annotated[str | UnsetType, Meta(description="Of an agent: what it may do.")] = UNSET


class RevocationRequest(Struct):
    """The form of `POST /auth/revoke`."""

    token: Annotated[str, Meta(description="A refresh token, a consent or an access token.")]
    token_type_hint: Annotated[str | UnsetType, Meta(description="Not needed, and ignored.")] = UNSET
    client_id: Annotated[str | UnsetType, Meta(description=_CLIENT)] = UNSET
    client_secret: Annotated[str | UnsetType, Meta(description=_CLIENT)] = UNSET


class Revoked(Struct):
    """Nothing: RFC 7009 says that clients ignore the body."""


_ClientAuthentication = Literal["client_secret_basic", "client_secret_post", "none"]


class IssuerMetadata(Struct):
    """What OAuth clients need to know of the issuer (RFC 8414)."""

    issuer: Annotated[str, Meta(description="The issuer's name.")]
    authorization_endpoint: Annotated[str, Meta(description="Where a customer's browser goes for the consent.")]
    token_endpoint: Annotated[str, Meta(description="Where codes and refresh tokens are redeemed.")]
    jwks_uri: Annotated[str, Meta(description="The public keys.")]
    revocation_endpoint: Annotated[str, Meta(description="Where tokens are revoked.")]
    registration_endpoint: Annotated[str, Meta(description="Where agents register (RFC 7591).")]
    service_documentation: Annotated[str, Meta(description="The guide.")]
    scopes_supported: Annotated[list[Literal["read", "order"]], Meta(description="What agents can ask for.")]
    response_types_supported: Annotated[list[Literal["code"]], Meta(description="Only codes.")]
    response_modes_supported: Annotated[list[Literal["query"]], Meta(description="Only the query.")]
    grant_types_supported: Annotated[list[ConsentGrantType], Meta(description="Codes and refresh tokens.")]
    code_challenge_methods_supported: Annotated[list[Literal["S256"]], Meta(description="Required (RFC 7636).")]
    token_endpoint_auth_methods_supported: Annotated[
        list[_ClientAuthentication], Meta(description="HTTP Basic, or the form; agents have no secret.")
    ]
    revocation_endpoint_auth_methods_supported: Annotated[
        list[_ClientAuthentication], Meta(description="HTTP Basic, or the form; agents have no secret.")
    ]
    authorization_response_iss_parameter_supported: Annotated[
        bool, Meta(description="Responses name the issuer in `iss` (RFC 9207).")
    ]
    client_id_metadata_document_supported: Annotated[
        bool, Meta(description="An agent's client id may be the https address of a document that describes it.")
    ]


class KeySet(Struct):
    """The issuer's public keys (RFC 7517)."""

    keys: Annotated[
        list[dict[str, Any]], Meta(description="The key that signs; during a rotation, also the previous one.")
    ]


def metadata(base_url: str) -> IssuerMetadata:
    """Return the metadata of the issuer of the service at a base URL."""
    issuer = issuer_name(base_url)
    return IssuerMetadata(
        issuer=issuer,
        authorization_endpoint=f"{issuer}/authorize",
        token_endpoint=f"{issuer}/token",
        jwks_uri=f"{issuer}/jwks.json",
        revocation_endpoint=f"{issuer}/revoke",
        registration_endpoint=f"{issuer}/register",
        service_documentation=f"{base_url}/guide",
        scopes_supported=["read", "order"],
        response_types_supported=["code"],
        response_modes_supported=["query"],
        grant_types_supported=["authorization_code", "refresh_token"],
        code_challenge_methods_supported=["S256"],
        token_endpoint_auth_methods_supported=["client_secret_basic", "client_secret_post", "none"],
        revocation_endpoint_auth_methods_supported=["client_secret_basic", "client_secret_post", "none"],
        authorization_response_iss_parameter_supported=True,
        client_id_metadata_document_supported=True,
    )

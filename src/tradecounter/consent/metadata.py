"""The metadata of the own issuer (RFC 8414)."""

from tradecounter.consent.keys import issuer_name
from tradecounter.consent.wire import IssuerMetadata


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

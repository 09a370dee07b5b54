<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * What OAuth clients need to know of the issuer (RFC 8414).
 */
final readonly class IssuerMetadata extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $issuer The issuer's name.
     * @param string $authorization_endpoint Where a customer's browser goes for the consent.
     * @param string $token_endpoint Where codes and refresh tokens are redeemed.
     * @param string $jwks_uri The public keys.
     * @param string $revocation_endpoint Where tokens are revoked.
     * @param string $registration_endpoint Where agents register (RFC 7591).
     * @param string $service_documentation The guide.
     * @param list<string> $scopes_supported What agents can ask for.
     * @param list<string> $response_types_supported Only codes.
     * @param list<string> $response_modes_supported Only the query.
     * @param list<string> $grant_types_supported Codes and refresh tokens.
     * @param list<string> $code_challenge_methods_supported Required (RFC 7636).
     * @param list<string> $token_endpoint_auth_methods_supported HTTP Basic, or the form; agents have no secret.
     * @param list<string> $revocation_endpoint_auth_methods_supported HTTP Basic, or the form; agents have no secret.
     * @param bool $authorization_response_iss_parameter_supported Responses name the issuer in `iss` (RFC 9207).
     * @param bool $client_id_metadata_document_supported An agent's client id may be the https address of a document that describes it.
     */
    public function __construct(
        public string $issuer,
        public string $authorization_endpoint,
        public string $token_endpoint,
        public string $jwks_uri,
        public string $revocation_endpoint,
        public string $registration_endpoint,
        public string $service_documentation,
        public array $scopes_supported,
        public array $response_types_supported,
        public array $response_modes_supported,
        public array $grant_types_supported,
        public array $code_challenge_methods_supported,
        public array $token_endpoint_auth_methods_supported,
        public array $revocation_endpoint_auth_methods_supported,
        public bool $authorization_response_iss_parameter_supported,
        public bool $client_id_metadata_document_supported,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            issuer: $in->field('issuer')->string(),
            authorization_endpoint: $in->field('authorization_endpoint')->string(),
            token_endpoint: $in->field('token_endpoint')->string(),
            jwks_uri: $in->field('jwks_uri')->string(),
            revocation_endpoint: $in->field('revocation_endpoint')->string(),
            registration_endpoint: $in->field('registration_endpoint')->string(),
            service_documentation: $in->field('service_documentation')->string(),
            scopes_supported: $in->field('scopes_supported')->list(static fn (Value $each): string => $each->string()),
            response_types_supported: $in->field('response_types_supported')->list(static fn (Value $each): string => $each->string()),
            response_modes_supported: $in->field('response_modes_supported')->list(static fn (Value $each): string => $each->string()),
            grant_types_supported: $in->field('grant_types_supported')->list(static fn (Value $each): string => $each->string()),
            code_challenge_methods_supported: $in->field('code_challenge_methods_supported')->list(static fn (Value $each): string => $each->string()),
            token_endpoint_auth_methods_supported: $in->field('token_endpoint_auth_methods_supported')->list(static fn (Value $each): string => $each->string()),
            revocation_endpoint_auth_methods_supported: $in->field('revocation_endpoint_auth_methods_supported')->list(static fn (Value $each): string => $each->string()),
            authorization_response_iss_parameter_supported: $in->field('authorization_response_iss_parameter_supported')->bool(),
            client_id_metadata_document_supported: $in->field('client_id_metadata_document_supported')->bool(),
        );
    }
}

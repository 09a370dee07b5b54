<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A registered client (RFC 7591). It has no secret.
 */
final readonly class RegisteredClient extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $client_id The client's id.
     * @param int $client_id_issued_at Seconds since 1970.
     * @param string $client_name Its name for people.
     * @param list<string> $redirect_uris Where browsers go back to.
     * @param string $token_endpoint_auth_method It has no secret, and needs PKCE.
     * @param list<string> $grant_types Codes and refresh tokens.
     * @param list<string> $response_types Only codes.
     * @param string $scope What it can ask for.
     */
    public function __construct(
        public string $client_id,
        public int $client_id_issued_at,
        public string $client_name,
        public array $redirect_uris,
        public string $token_endpoint_auth_method,
        public array $grant_types,
        public array $response_types,
        public string $scope,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            client_id: $in->field('client_id')->string(),
            client_id_issued_at: $in->field('client_id_issued_at')->int(),
            client_name: $in->field('client_name')->string(),
            redirect_uris: $in->field('redirect_uris')->list(static fn (Value $each): string => $each->string()),
            token_endpoint_auth_method: $in->field('token_endpoint_auth_method')->string(),
            grant_types: $in->field('grant_types')->list(static fn (Value $each): string => $each->string()),
            response_types: $in->field('response_types')->list(static fn (Value $each): string => $each->string()),
            scope: $in->field('scope')->string(),
        );
    }
}

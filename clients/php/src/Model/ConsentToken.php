<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A customer's consent, which `POST /oauth/token` exchanges for an access token, and a token to renew it.      An agent gets an access token for `/mcp` instead.
 */
final readonly class ConsentToken extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $access_token The consent, a JWT: the `subject_token` of `POST /oauth/token`. Of an agent: its opaque access token, which `/mcp` alone accepts.
     * @param string $token_type What OAuth libraries expect; the API accepts no consent as its token.
     * @param int $expires_in Seconds until the consent, or the access token, expires.
     * @param string $refresh_token Good once; the response to its use has the next one.
     * @param string|null $issued_token_type Of a consent; the only supported value.
     * @param string|null $scope Of an agent: what it may do.
     */
    public function __construct(
        public string $access_token,
        public string $token_type,
        public int $expires_in,
        public string $refresh_token,
        public ?string $issued_token_type = null,
        public ?string $scope = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            access_token: $in->field('access_token')->string(),
            token_type: $in->field('token_type')->string(),
            expires_in: $in->field('expires_in')->int(),
            refresh_token: $in->field('refresh_token')->string(),
            issued_token_type: $in->maybe('issued_token_type')?->string(),
            scope: $in->maybe('scope')?->string(),
        );
    }
}

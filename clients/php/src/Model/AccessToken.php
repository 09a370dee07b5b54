<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An access token for one customer.
 */
final readonly class AccessToken extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $access_token Opaque; send it as a bearer token.
     * @param string $issued_token_type The only supported value.
     * @param string $token_type Send it as `Authorization: Bearer`.
     * @param int $expires_in Seconds until it expires.
     */
    public function __construct(
        public string $access_token,
        public string $issued_token_type,
        public string $token_type,
        public int $expires_in,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            access_token: $in->field('access_token')->string(),
            issued_token_type: $in->field('issued_token_type')->string(),
            token_type: $in->field('token_type')->string(),
            expires_in: $in->field('expires_in')->int(),
        );
    }
}

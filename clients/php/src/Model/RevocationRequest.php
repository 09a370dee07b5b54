<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The form of `POST /auth/revoke`.
 */
final readonly class RevocationRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $token A refresh token, a consent or an access token.
     * @param string|null $token_type_hint Not needed, and ignored.
     * @param string|null $client_id Required unless the request uses HTTP Basic.
     * @param string|null $client_secret Required unless the request uses HTTP Basic.
     */
    public function __construct(
        public string $token,
        public ?string $token_type_hint = null,
        public ?string $client_id = null,
        public ?string $client_secret = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            token: $in->field('token')->string(),
            token_type_hint: $in->maybe('token_type_hint')?->string(),
            client_id: $in->maybe('client_id')?->string(),
            client_secret: $in->maybe('client_secret')?->string(),
        );
    }
}

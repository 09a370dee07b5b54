<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The form of `POST /oauth/token`.
 */
final readonly class TokenRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $grant_type The only supported value.
     * @param string $subject_token A JWT from the issuer that proves the customer's consent.
     * @param string $subject_token_type The only supported value.
     * @param string|null $requested_token_type Optional; this is the only supported value.
     * @param string|null $resource If sent, the API's base URL.
     * @param string|null $client_id Required unless the request uses HTTP Basic.
     * @param string|null $client_secret Required unless the request uses HTTP Basic.
     */
    public function __construct(
        public string $grant_type,
        public string $subject_token,
        public string $subject_token_type,
        public ?string $requested_token_type = null,
        public ?string $resource = null,
        public ?string $client_id = null,
        public ?string $client_secret = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            grant_type: $in->field('grant_type')->string(),
            subject_token: $in->field('subject_token')->string(),
            subject_token_type: $in->field('subject_token_type')->string(),
            requested_token_type: $in->maybe('requested_token_type')?->string(),
            resource: $in->maybe('resource')?->string(),
            client_id: $in->maybe('client_id')?->string(),
            client_secret: $in->maybe('client_secret')?->string(),
        );
    }
}

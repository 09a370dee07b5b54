<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Why the request is rejected (RFC 6749, section 5.2).
 */
final readonly class OAuthError extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $error The reason.
     * @param string|null $error_description Details for developers of the client.
     */
    public function __construct(
        public string $error,
        public ?string $error_description = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            error: $in->field('error')->string(),
            error_description: $in->maybe('error_description')?->string(),
        );
    }
}

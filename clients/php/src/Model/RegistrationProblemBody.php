<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Why a client is not registered (RFC 7591, section 3.2.2).
 */
final readonly class RegistrationProblemBody extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $error The reason.
     * @param string $error_description Details for developers of the client.
     */
    public function __construct(
        public string $error,
        public string $error_description,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            error: $in->field('error')->string(),
            error_description: $in->field('error_description')->string(),
        );
    }
}

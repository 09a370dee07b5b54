<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Why you do not want the quote.
 */
final readonly class DeclineQuoteRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string|null $reason Support reads it; it may be left out.
     */
    public function __construct(
        public ?string $reason = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            reason: $in->maybe('reason')?->string(),
        );
    }
}

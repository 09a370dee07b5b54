<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * One value that products have for an attribute.
 */
final readonly class AttributeValue extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $value The value, as a string.
     */
    public function __construct(
        public string $value,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            value: $in->field('value')->string(),
        );
    }
}

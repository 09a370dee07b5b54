<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A manufacturer.
 */
final readonly class Manufacturer extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $key Use it in the `manufacturer` filter.
     * @param string $name The manufacturer's name.
     */
    public function __construct(
        public string $key,
        public string $name,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            key: $in->field('key')->string(),
            name: $in->field('name')->string(),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An attribute of products.
 */
final readonly class ProductAttribute extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $key Use it in the `attribute` filter.
     * @param string $name The attribute's name, as in products; the filter accepts it too.
     * @param string $type `int` attributes can be compared with <, >, <= and >=.
     * @param list<AttributeValue> $possible_values The values that products have.
     */
    public function __construct(
        public string $key,
        public string $name,
        public string $type,
        public array $possible_values,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            key: $in->field('key')->string(),
            name: $in->field('name')->string(),
            type: $in->field('type')->string(),
            possible_values: $in->field('possible_values')->list(AttributeValue::of(...)),
        );
    }
}

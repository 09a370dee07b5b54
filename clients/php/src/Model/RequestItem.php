<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Units of an order's item.
 */
final readonly class RequestItem extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The `id` of the order's item.
     * @param string $sku The product's SKU.
     * @param int $quantity Units to cancel or to return.
     */
    public function __construct(
        public int $id,
        public string $sku,
        public int $quantity,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            sku: $in->field('sku')->string(),
            quantity: $in->field('quantity')->int(),
        );
    }
}

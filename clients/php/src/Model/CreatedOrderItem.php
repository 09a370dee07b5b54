<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A priced line; `cost_net` is the line's total.
 */
final readonly class CreatedOrderItem extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The line's id.
     * @param string $sku The product's SKU.
     * @param int $quantity Units ordered.
     * @param float $cost_net Pounds, two decimal places.
     */
    public function __construct(
        public int $id,
        public string $sku,
        public int $quantity,
        public float $cost_net,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            sku: $in->field('sku')->string(),
            quantity: $in->field('quantity')->int(),
            cost_net: $in->field('cost_net')->float(),
        );
    }
}

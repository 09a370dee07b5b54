<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A line to order.
 */
final readonly class CreateOrderItem extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $sku The product's SKU; case does not matter.
     * @param int $quantity Units to order.
     * @param float|null $max_unit_cost The most that one unit may cost, in pounds without VAT; if it costs more, 409. Not for quotes.
     */
    public function __construct(
        public string $sku,
        public int $quantity,
        public ?float $max_unit_cost = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            sku: $in->field('sku')->string(),
            quantity: $in->field('quantity')->int(),
            max_unit_cost: $in->maybe('max_unit_cost')?->float(),
        );
    }
}

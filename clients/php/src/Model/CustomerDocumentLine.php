<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A line of an invoice or a credit note; shipping and amounts have no `item_id` and no `sku`.
 */
final readonly class CustomerDocumentLine extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $description What it is, as printed.
     * @param int $quantity Units.
     * @param float $unit_cost Pounds for a unit, without VAT.
     * @param float $cost_net Pounds without VAT.
     * @param float $tax_rate The rate of VAT, in per cent.
     * @param float $cost_tax The VAT in pounds.
     * @param int|null $item_id The `id` of the order's item.
     * @param string|null $sku The product's SKU.
     */
    public function __construct(
        public string $description,
        public int $quantity,
        public float $unit_cost,
        public float $cost_net,
        public float $tax_rate,
        public float $cost_tax,
        public ?int $item_id = null,
        public ?string $sku = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            description: $in->field('description')->string(),
            quantity: $in->field('quantity')->int(),
            unit_cost: $in->field('unit_cost')->float(),
            cost_net: $in->field('cost_net')->float(),
            tax_rate: $in->field('tax_rate')->float(),
            cost_tax: $in->field('cost_tax')->float(),
            item_id: $in->maybe('item_id')?->int(),
            sku: $in->maybe('sku')?->string(),
        );
    }
}

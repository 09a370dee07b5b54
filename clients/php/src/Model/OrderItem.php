<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A line of an order, with the current data of the product. A line of a pending order has only the product's `sku`.
 */
final readonly class OrderItem extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The line's id.
     * @param int $quantity Units ordered, less those cancelled; a cancelled order keeps its units.
     * @param float $cost_net Pounds, two decimal places.
     * @param Product|null $product
     * @param float|null $cost_tax Pounds, two decimal places.
     * @param list<OrderItem>|null $related_items The components, for a bundle.
     * @param list<OrderItemConfiguration>|null $configurations One per configured unit.
     * @param list<ProductSerialNumber>|null $serial_numbers The dispatched units.
     * @param int|null $quantity_dispatched Units that were dispatched.
     * @param int|null $quantity_cancelled Units that were cancelled.
     * @param string|null $sku The product's SKU.
     */
    public function __construct(
        public int $id,
        public int $quantity,
        public float $cost_net,
        public ?Product $product = null,
        public ?float $cost_tax = null,
        public ?array $related_items = null,
        public ?array $configurations = null,
        public ?array $serial_numbers = null,
        public ?int $quantity_dispatched = null,
        public ?int $quantity_cancelled = null,
        public ?string $sku = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            quantity: $in->field('quantity')->int(),
            cost_net: $in->field('cost_net')->float(),
            product: $in->maybe('product')?->as(Product::of(...)),
            cost_tax: $in->maybe('cost_tax')?->float(),
            related_items: $in->maybe('related_items')?->list(OrderItem::of(...)),
            configurations: $in->maybe('configurations')?->list(OrderItemConfiguration::of(...)),
            serial_numbers: $in->maybe('serial_numbers')?->list(ProductSerialNumber::of(...)),
            quantity_dispatched: $in->maybe('quantity_dispatched')?->int(),
            quantity_cancelled: $in->maybe('quantity_cancelled')?->int(),
            sku: $in->maybe('sku')?->string(),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Options for confirming an order.
 */
final readonly class ConfirmOrderRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param ShippingChoice|null $shipping_method One of the shipping options.
     * @param float|null $max_cost_gross The most that the items may cost together, in pounds with VAT, without shipping; above it, 409.
     * @param bool|null $allow_back_orders `false`: 409 unless all is in stock. By default, as the creation said.
     */
    public function __construct(
        public ?ShippingChoice $shipping_method = null,
        public ?float $max_cost_gross = null,
        public ?bool $allow_back_orders = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            shipping_method: $in->maybe('shipping_method')?->as(ShippingChoice::of(...)),
            max_cost_gross: $in->maybe('max_cost_gross')?->float(),
            allow_back_orders: $in->maybe('allow_back_orders')?->bool(),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A way to ship the order. The dates are absent while no known delivery covers the order.
 */
final readonly class CreateOrderShipping extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The shipping method's id, to use in `shipping_method`.
     * @param string $provider The courier.
     * @param string $description The name of the service, for display.
     * @param float $cost_net Pounds, two decimal places.
     * @param float $total_gross What the order costs with this option, VAT included: items and shipping.
     * @param string|null $expected_dispatch_date UK local time without an offset.
     * @param string|null $expected_arrival_date UK local time without an offset.
     */
    public function __construct(
        public int $id,
        public string $provider,
        public string $description,
        public float $cost_net,
        public float $total_gross,
        public ?string $expected_dispatch_date = null,
        public ?string $expected_arrival_date = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            provider: $in->field('provider')->string(),
            description: $in->field('description')->string(),
            cost_net: $in->field('cost_net')->float(),
            total_gross: $in->field('total_gross')->float(),
            expected_dispatch_date: $in->maybe('expected_dispatch_date')?->string(),
            expected_arrival_date: $in->maybe('expected_arrival_date')?->string(),
        );
    }
}

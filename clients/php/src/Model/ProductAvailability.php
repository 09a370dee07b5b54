<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Stock of a product; expected deliveries are shown to trade accounts.
 */
final readonly class ProductAvailability extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $available Units in stock.
     * @param string $status A label: In stock, Low stock, On order, Out of stock; new values may be added.
     * @param list<ProductIncomingStock> $incoming Expected deliveries, for trade accounts; otherwise empty.
     */
    public function __construct(
        public int $available,
        public string $status,
        public array $incoming,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            available: $in->field('available')->int(),
            status: $in->field('status')->string(),
            incoming: $in->field('incoming')->list(ProductIncomingStock::of(...)),
        );
    }
}

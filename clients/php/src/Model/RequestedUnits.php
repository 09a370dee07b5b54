<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Units of an order's line, by the line's id.
 */
final readonly class RequestedUnits extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The `id` of the order's item.
     * @param int|null $quantity Units to cancel or to return.
     */
    public function __construct(
        public int $id,
        public ?int $quantity = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            quantity: $in->maybe('quantity')?->int(),
        );
    }
}

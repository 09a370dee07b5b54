<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Units of an item in a shipment.
 */
final readonly class ShippedUnits extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The item's id; also of a component of a bundle.
     * @param int $quantity Units in the shipment.
     * @param list<ProductSerialNumber> $serial_numbers Those of these units that are known.
     */
    public function __construct(
        public int $id,
        public int $quantity,
        public array $serial_numbers,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            quantity: $in->field('quantity')->int(),
            serial_numbers: $in->field('serial_numbers')->list(ProductSerialNumber::of(...)),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A dispatched unit.
 */
final readonly class ProductSerialNumber extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $mac_address The unit's MAC address; empty when unknown.
     * @param string $serial_number The unit's serial number.
     * @param string $provisioning_sku The SKU under which the unit is provisioned.
     */
    public function __construct(
        public string $mac_address,
        public string $serial_number,
        public string $provisioning_sku,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            mac_address: $in->field('mac_address')->string(),
            serial_number: $in->field('serial_number')->string(),
            provisioning_sku: $in->field('provisioning_sku')->string(),
        );
    }
}

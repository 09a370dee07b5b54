<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * One unit's configuration.
 */
final readonly class OrderItemConfiguration extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param ProvisioningData $data
     */
    public function __construct(
        public ProvisioningData $data,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            data: $in->field('data')->as(ProvisioningData::of(...)),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Where a shipment was.
 */
final readonly class TrackingEvent extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $date UK local time without an offset.
     * @param string $type A label; new values may be added.
     * @param string $description What happened, for display.
     * @param string $locality The place.
     */
    public function __construct(
        public string $date,
        public string $type,
        public string $description,
        public string $locality,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            date: $in->field('date')->string(),
            type: $in->field('type')->string(),
            description: $in->field('description')->string(),
            locality: $in->field('locality')->string(),
        );
    }
}

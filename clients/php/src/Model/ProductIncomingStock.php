<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Units on an expected delivery.
 */
final readonly class ProductIncomingStock extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $incoming Units expected.
     * @param string $expected_on UK local time without an offset.
     */
    public function __construct(
        public int $incoming,
        public string $expected_on,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            incoming: $in->field('incoming')->int(),
            expected_on: $in->field('expected_on')->string(),
        );
    }
}

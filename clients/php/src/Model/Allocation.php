<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The part of a payment that pays an invoice.
 */
final readonly class Allocation extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $invoice The invoice's number.
     * @param float $amount What the payment pays of it, in pounds.
     */
    public function __construct(
        public int $invoice,
        public float $amount,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            invoice: $in->field('invoice')->int(),
            amount: $in->field('amount')->float(),
        );
    }
}

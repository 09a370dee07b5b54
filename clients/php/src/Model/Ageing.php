<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * What is due of invoices, by days past their due date.
 */
final readonly class Ageing extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param float $not_due Not yet due, in pounds.
     * @param float $days_1_30 1 to 30 days overdue.
     * @param float $days_31_60 31 to 60 days overdue.
     * @param float $days_61_90 61 to 90 days overdue.
     * @param float $over_90 More than 90 days overdue.
     */
    public function __construct(
        public float $not_due,
        public float $days_1_30,
        public float $days_31_60,
        public float $days_61_90,
        public float $over_90,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            not_due: $in->field('not_due')->float(),
            days_1_30: $in->field('days_1_30')->float(),
            days_31_60: $in->field('days_31_60')->float(),
            days_61_90: $in->field('days_61_90')->float(),
            over_90: $in->field('over_90')->float(),
        );
    }
}

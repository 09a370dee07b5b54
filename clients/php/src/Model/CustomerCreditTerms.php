<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The account's credit limit and term.
 */
final readonly class CustomerCreditTerms extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param float $credit_limit The most that the account may owe, in pounds.
     * @param int $term_days Days from the invoice to its due date.
     */
    public function __construct(
        public float $credit_limit,
        public int $term_days,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            credit_limit: $in->field('credit_limit')->float(),
            term_days: $in->field('term_days')->int(),
        );
    }
}

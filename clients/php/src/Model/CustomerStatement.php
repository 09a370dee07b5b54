<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Your account between two UK days, both included. The closing balance is the ageing less `unallocated`.
 */
final readonly class CustomerStatement extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $customer_id The customer's id.
     * @param string $from The first UK day.
     * @param string $to The last UK day, which is included.
     * @param float $opening_balance What the customer owed before the first day, in pounds.
     * @param list<CustomerStatementEntry> $entries What happened between the days, oldest first.
     * @param float $closing_balance What the customer owed after the last day, in pounds.
     * @param Ageing $ageing What is due of invoices by age, as of the last day.
     * @param float $unallocated Money on the account that pays no invoice yet, in pounds.
     */
    public function __construct(
        public int $customer_id,
        public string $from,
        public string $to,
        public float $opening_balance,
        public array $entries,
        public float $closing_balance,
        public Ageing $ageing,
        public float $unallocated,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            customer_id: $in->field('customer_id')->int(),
            from: $in->field('from')->string(),
            to: $in->field('to')->string(),
            opening_balance: $in->field('opening_balance')->float(),
            entries: $in->field('entries')->list(CustomerStatementEntry::of(...)),
            closing_balance: $in->field('closing_balance')->float(),
            ageing: $in->field('ageing')->as(Ageing::of(...)),
            unallocated: $in->field('unallocated')->float(),
        );
    }
}

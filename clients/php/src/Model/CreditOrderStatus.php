<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An order that is not fully paid.
 */
final readonly class CreditOrderStatus extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param float $total_cost With VAT and shipping, less credit notes, in pounds.
     * @param float $total_paid What payments have paid of it, in pounds.
     * @param float $total_due What is left to pay, in pounds.
     * @param string $created_on UK local time without an offset.
     * @param string $due_on UK local time without an offset.
     * @param bool $is_overdue Whether `due_on` has passed.
     * @param string $customer_reference Your own reference.
     * @param string $order_reference The order reference.
     */
    public function __construct(
        public float $total_cost,
        public float $total_paid,
        public float $total_due,
        public string $created_on,
        public string $due_on,
        public bool $is_overdue,
        public string $customer_reference,
        public string $order_reference,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            total_cost: $in->field('total_cost')->float(),
            total_paid: $in->field('total_paid')->float(),
            total_due: $in->field('total_due')->float(),
            created_on: $in->field('created_on')->string(),
            due_on: $in->field('due_on')->string(),
            is_overdue: $in->field('is_overdue')->bool(),
            customer_reference: $in->field('customer_reference')->string(),
            order_reference: $in->field('order_reference')->string(),
        );
    }
}

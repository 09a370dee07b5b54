<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The account's credit limit and its debts by order.
 */
final readonly class CreditOverview extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param float $credit_limit The most that the account may owe, in pounds.
     * @param float $total_outstanding What is left to pay of confirmed orders, with VAT and shipping, in pounds.
     * @param float $available_credit What new orders may cost together, with VAT and shipping, in pounds.
     * @param list<CreditOrderStatus> $outstanding_orders The orders that are not fully paid.
     */
    public function __construct(
        public float $credit_limit,
        public float $total_outstanding,
        public float $available_credit,
        public array $outstanding_orders,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            credit_limit: $in->field('credit_limit')->float(),
            total_outstanding: $in->field('total_outstanding')->float(),
            available_credit: $in->field('available_credit')->float(),
            outstanding_orders: $in->field('outstanding_orders')->list(CreditOrderStatus::of(...)),
        );
    }
}

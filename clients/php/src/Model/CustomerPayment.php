<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A payment as its customer sees it. What `allocations` leave of `amount` is on the account, or was refunded.
 */
final readonly class CustomerPayment extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The payment's id.
     * @param int $customer_id The customer's id.
     * @param float $amount Pounds.
     * @param string $received_on The UK day on which the money came, or went back as a refund.
     * @param string $method `bank_transfer`, `direct_debit`, `card`, `cheque`, `cash`, `other`, or `refund`: money that went back to the customer.
     * @param string $reference The reference at the bank.
     * @param list<Allocation> $allocations The invoices that it pays; the rest is on the account, or was refunded.
     * @param string|null $reversed_at When it was reversed; absent: it stands.
     * @param string|null $reversal_reason Why it was reversed.
     */
    public function __construct(
        public int $id,
        public int $customer_id,
        public float $amount,
        public string $received_on,
        public string $method,
        public string $reference,
        public array $allocations,
        public ?string $reversed_at = null,
        public ?string $reversal_reason = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            customer_id: $in->field('customer_id')->int(),
            amount: $in->field('amount')->float(),
            received_on: $in->field('received_on')->string(),
            method: $in->field('method')->string(),
            reference: $in->field('reference')->string(),
            allocations: $in->field('allocations')->list(Allocation::of(...)),
            reversed_at: $in->maybe('reversed_at')?->string(),
            reversal_reason: $in->maybe('reversal_reason')?->string(),
        );
    }
}

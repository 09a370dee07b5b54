<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An entry of a statement.
 */
final readonly class CustomerStatementEntry extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $at When it counts from, in UK local time.
     * @param string $kind `invoice`, `credit_note`, `payment`, `reversal` of a payment, or `refund`.
     * @param int $number The number of the document, or the payment's id.
     * @param string $description The order's reference, the payment's, or the reason.
     * @param float $debit What it adds to the debt, in pounds.
     * @param float $credit What it takes off the debt, in pounds.
     * @param float $balance What the customer owes after it; negative: money on the account.
     */
    public function __construct(
        public string $at,
        public string $kind,
        public int $number,
        public string $description,
        public float $debit,
        public float $credit,
        public float $balance,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            at: $in->field('at')->string(),
            kind: $in->field('kind')->string(),
            number: $in->field('number')->int(),
            description: $in->field('description')->string(),
            debit: $in->field('debit')->float(),
            credit: $in->field('credit')->float(),
            balance: $in->field('balance')->float(),
        );
    }
}

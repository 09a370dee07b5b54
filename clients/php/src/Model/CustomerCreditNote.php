<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A credit note with its lines, which correct those of an invoice.
 */
final readonly class CustomerCreditNote extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $number The credit note's number.
     * @param int $invoice The number of the invoice that it corrects.
     * @param string $order_reference The reference of the order.
     * @param int $customer_id The customer's id.
     * @param string $issued_on The UK day of issue.
     * @param string $reason Why it was issued.
     * @param list<CustomerDocumentLine> $lines What is credited.
     * @param float $cost_net Pounds without VAT.
     * @param float $cost_tax The VAT in pounds.
     * @param float $cost_gross Pounds with VAT.
     */
    public function __construct(
        public int $number,
        public int $invoice,
        public string $order_reference,
        public int $customer_id,
        public string $issued_on,
        public string $reason,
        public array $lines,
        public float $cost_net,
        public float $cost_tax,
        public float $cost_gross,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            number: $in->field('number')->int(),
            invoice: $in->field('invoice')->int(),
            order_reference: $in->field('order_reference')->string(),
            customer_id: $in->field('customer_id')->int(),
            issued_on: $in->field('issued_on')->string(),
            reason: $in->field('reason')->string(),
            lines: $in->field('lines')->list(CustomerDocumentLine::of(...)),
            cost_net: $in->field('cost_net')->float(),
            cost_tax: $in->field('cost_tax')->float(),
            cost_gross: $in->field('cost_gross')->float(),
        );
    }
}

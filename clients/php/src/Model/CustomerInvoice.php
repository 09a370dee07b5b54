<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An invoice with its lines, and what is paid, credited and due of it.
 */
final readonly class CustomerInvoice extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $number The invoice's number.
     * @param string $order_reference The reference of the order.
     * @param int $customer_id The customer's id.
     * @param string $issued_on The UK day of issue.
     * @param string $tax_point The UK day of the supply, for VAT.
     * @param string $due_on The last UK day on which it can be paid in time.
     * @param float $cost_net Pounds without VAT, with shipping.
     * @param float $cost_tax The VAT in pounds.
     * @param float $cost_gross Pounds with VAT.
     * @param float $paid What payments have paid of it, in pounds.
     * @param float $credited What credit notes take off it, in pounds.
     * @param float $due What is left to pay, in pounds.
     * @param string $customer_reference The customer's own reference of the order.
     * @param string $state `due`, `part_paid` or `overdue` while something is due; then `credited` if credit notes alone took it off, else `paid`.
     * @param list<CustomerDocumentLine> $lines The lines as printed; shipping, which is on the first invoice, last.
     */
    public function __construct(
        public int $number,
        public string $order_reference,
        public int $customer_id,
        public string $issued_on,
        public string $tax_point,
        public string $due_on,
        public float $cost_net,
        public float $cost_tax,
        public float $cost_gross,
        public float $paid,
        public float $credited,
        public float $due,
        public string $customer_reference,
        public string $state,
        public array $lines,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            number: $in->field('number')->int(),
            order_reference: $in->field('order_reference')->string(),
            customer_id: $in->field('customer_id')->int(),
            issued_on: $in->field('issued_on')->string(),
            tax_point: $in->field('tax_point')->string(),
            due_on: $in->field('due_on')->string(),
            cost_net: $in->field('cost_net')->float(),
            cost_tax: $in->field('cost_tax')->float(),
            cost_gross: $in->field('cost_gross')->float(),
            paid: $in->field('paid')->float(),
            credited: $in->field('credited')->float(),
            due: $in->field('due')->float(),
            customer_reference: $in->field('customer_reference')->string(),
            state: $in->field('state')->string(),
            lines: $in->field('lines')->list(CustomerDocumentLine::of(...)),
        );
    }
}

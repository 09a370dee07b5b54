<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The account of the calling customer.
 */
final readonly class Customer extends Model
{
    protected const NULLABLE = ['credit_terms', ];
    protected const MAPS = [];

    /**
     * @param string $first_name The contact person's first name.
     * @param string $last_name The contact person's last name.
     * @param string $email_address The login address.
     * @param bool $trade_account Whether the account is shown expected deliveries.
     * @param CustomerCreditTerms|null $credit_terms null for an account without credit, which cannot order.
     * @param string|null $accounts_email Receives copies of invoices.
     */
    public function __construct(
        public string $first_name,
        public string $last_name,
        public string $email_address,
        public bool $trade_account,
        public ?CustomerCreditTerms $credit_terms,
        public ?string $accounts_email = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            first_name: $in->field('first_name')->string(),
            last_name: $in->field('last_name')->string(),
            email_address: $in->field('email_address')->string(),
            trade_account: $in->field('trade_account')->bool(),
            credit_terms: $in->maybe('credit_terms')?->as(CustomerCreditTerms::of(...)),
            accounts_email: $in->maybe('accounts_email')?->string(),
        );
    }
}

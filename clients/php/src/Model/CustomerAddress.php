<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An address that an order is billed or shipped to.
 */
final readonly class CustomerAddress extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $contact_name The recipient.
     * @param string $street_one The first line: house number and street.
     * @param string $city The post town.
     * @param string $zip The postal code.
     * @param string $country_code ISO 3166-1 alpha-2: GB, IM, JE, GG, IE … A wrong code, such as GB for the Isle of Man, gives wrong shipping options, and support may cancel the order.
     * @param string|null $company_name The recipient's company.
     * @param string|null $street_two The second line.
     * @param string|null $street_three The third line.
     * @param string|null $state The county.
     * @param string|null $contact_number For the courier. Outside GB, JE, GG and IM, in international format.
     * @param string|null $tax_number The recipient's tax number.
     * @param int|null $id The saved address's id; absent if the order had the full address.
     */
    public function __construct(
        public string $contact_name,
        public string $street_one,
        public string $city,
        public string $zip,
        public string $country_code,
        public ?string $company_name = null,
        public ?string $street_two = null,
        public ?string $street_three = null,
        public ?string $state = null,
        public ?string $contact_number = null,
        public ?string $tax_number = null,
        public ?int $id = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            contact_name: $in->field('contact_name')->string(),
            street_one: $in->field('street_one')->string(),
            city: $in->field('city')->string(),
            zip: $in->field('zip')->string(),
            country_code: $in->field('country_code')->string(),
            company_name: $in->maybe('company_name')?->string(),
            street_two: $in->maybe('street_two')?->string(),
            street_three: $in->maybe('street_three')?->string(),
            state: $in->maybe('state')?->string(),
            contact_number: $in->maybe('contact_number')?->string(),
            tax_number: $in->maybe('tax_number')?->string(),
            id: $in->maybe('id')?->int(),
        );
    }
}

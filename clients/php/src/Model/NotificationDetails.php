<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A contact: an e-mail address, a phone number, or both.
 */
final readonly class NotificationDetails extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string|null $email_address An e-mail address.
     * @param string|null $phone_number A phone number.
     */
    public function __construct(
        public ?string $email_address = null,
        public ?string $phone_number = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            email_address: $in->maybe('email_address')?->string(),
            phone_number: $in->maybe('phone_number')?->string(),
        );
    }
}

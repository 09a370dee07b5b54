<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * One field or parameter that is not valid, and how to correct it.
 */
final readonly class FieldError extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $field The place of the field.
     * @param string $message How to correct it.
     * @param string $code Why the field is rejected, for programs.
     * @param float|null $unit_cost With `price_changed`: what one unit costs now, in pounds.
     */
    public function __construct(
        public string $field,
        public string $message,
        public string $code,
        public ?float $unit_cost = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            field: $in->field('field')->string(),
            message: $in->field('message')->string(),
            code: $in->field('code')->string(),
            unit_cost: $in->maybe('unit_cost')?->float(),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * What is wrong, and how to correct it. Every error but 401 has this body.
 */
final readonly class Error extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $message Everything that is wrong, as one sentence to display.
     * @param string $code Why the request is rejected, for programs.
     * @param list<FieldError>|null $errors Each field that is not valid; `message` says the same.
     */
    public function __construct(
        public string $message,
        public string $code,
        public ?array $errors = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            message: $in->field('message')->string(),
            code: $in->field('code')->string(),
            errors: $in->maybe('errors')?->list(FieldError::of(...)),
        );
    }
}

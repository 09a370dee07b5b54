<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The service and its documentation.
 */
final readonly class ServiceIndex extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $name The service's name.
     * @param Documentation $documentation
     */
    public function __construct(
        public string $name,
        public Documentation $documentation,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            name: $in->field('name')->string(),
            documentation: $in->field('documentation')->as(Documentation::of(...)),
        );
    }
}

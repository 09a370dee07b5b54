<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Configurations to add to an item, one per unit.
 */
final readonly class AddConfigurationsRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param list<ConfigurationRequest> $configurations One per unit.
     */
    public function __construct(
        public array $configurations,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            configurations: $in->field('configurations')->list(ConfigurationRequest::of(...)),
        );
    }
}

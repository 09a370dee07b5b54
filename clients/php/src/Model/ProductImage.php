<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A picture of a product.
 */
final readonly class ProductImage extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param bool $is_primary Whether to show it first.
     * @param string $url The picture's URL.
     */
    public function __construct(
        public bool $is_primary,
        public string $url,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            is_primary: $in->field('is_primary')->bool(),
            url: $in->field('url')->string(),
        );
    }
}

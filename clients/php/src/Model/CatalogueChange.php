<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A product that differs from your copy, or that your copy must not have any more.
 */
final readonly class CatalogueChange extends Model
{
    protected const NULLABLE = ['product', ];
    protected const MAPS = [];

    /**
     * @param string $sku The product's SKU.
     * @param string $change `changed`: store the product, which may be new. `removed`: delete it; you cannot buy it now, or its SKU is spelled in other case now, and `changed` follows.
     * @param Product|null $product The whole product, as `GET /product` lists it; or null.
     */
    public function __construct(
        public string $sku,
        public string $change,
        public ?Product $product,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            sku: $in->field('sku')->string(),
            change: $in->field('change')->string(),
            product: $in->maybe('product')?->as(Product::of(...)),
        );
    }
}

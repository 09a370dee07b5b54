<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A product at the calling customer's prices.
 */
final readonly class Product extends Model
{
    protected const NULLABLE = ['ean', ];
    protected const MAPS = ['attributes', ];

    /**
     * @param string $sku The code to order the product by; case does not matter.
     * @param string|null $ean Usually an EAN of 13 digits.
     * @param string $name The product's name.
     * @param string $manufacturer The manufacturer's key.
     * @param float $weight_kg Boxed weight in kilograms; 0 if unknown.
     * @param float $box_width_mm Millimetres, boxed; 0 when unknown.
     * @param float $box_height_mm Millimetres, boxed; 0 when unknown.
     * @param float $box_length_mm Millimetres, boxed; 0 when unknown.
     * @param bool $clearance_product Reduced or refurbished.
     * @param list<ProductImage> $images Pictures of the product.
     * @param ProductAvailability $availability
     * @param float $single_unit_cost Net price of one unit.
     * @param float $five_plus_unit_cost Net unit price from five units.
     * @param float $ten_plus_unit_cost Net unit price from ten units.
     * @param float $consumer_unit_cost Recommended retail price; 0 if unknown.
     * @param string $store_url The product's page in the store.
     * @param list<string> $categories Category keys.
     * @param array<string, string> $attributes Attribute names and values.
     * @param string|null $description The description as plain text.
     * @param string|null $description_html The description as HTML.
     * @param string|null $short_description The description in one sentence.
     * @param list<string>|null $related_products SKUs.
     * @param list<string>|null $similar_products SKUs.
     */
    public function __construct(
        public string $sku,
        public ?string $ean,
        public string $name,
        public string $manufacturer,
        public float $weight_kg,
        public float $box_width_mm,
        public float $box_height_mm,
        public float $box_length_mm,
        public bool $clearance_product,
        public array $images,
        public ProductAvailability $availability,
        public float $single_unit_cost,
        public float $five_plus_unit_cost,
        public float $ten_plus_unit_cost,
        public float $consumer_unit_cost,
        public string $store_url,
        public array $categories,
        public array $attributes,
        public ?string $description = null,
        public ?string $description_html = null,
        public ?string $short_description = null,
        public ?array $related_products = null,
        public ?array $similar_products = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            sku: $in->field('sku')->string(),
            ean: $in->maybe('ean')?->string(),
            name: $in->field('name')->string(),
            manufacturer: $in->field('manufacturer')->string(),
            weight_kg: $in->field('weight_kg')->float(),
            box_width_mm: $in->field('box_width_mm')->float(),
            box_height_mm: $in->field('box_height_mm')->float(),
            box_length_mm: $in->field('box_length_mm')->float(),
            clearance_product: $in->field('clearance_product')->bool(),
            images: $in->field('images')->list(ProductImage::of(...)),
            availability: $in->field('availability')->as(ProductAvailability::of(...)),
            single_unit_cost: $in->field('single_unit_cost')->float(),
            five_plus_unit_cost: $in->field('five_plus_unit_cost')->float(),
            ten_plus_unit_cost: $in->field('ten_plus_unit_cost')->float(),
            consumer_unit_cost: $in->field('consumer_unit_cost')->float(),
            store_url: $in->field('store_url')->string(),
            categories: $in->field('categories')->list(static fn (Value $each): string => $each->string()),
            attributes: $in->field('attributes')->map(static fn (Value $each): string => $each->string()),
            description: $in->maybe('description')?->string(),
            description_html: $in->maybe('description_html')?->string(),
            short_description: $in->maybe('short_description')?->string(),
            related_products: $in->maybe('related_products')?->list(static fn (Value $each): string => $each->string()),
            similar_products: $in->maybe('similar_products')?->list(static fn (Value $each): string => $each->string()),
        );
    }
}

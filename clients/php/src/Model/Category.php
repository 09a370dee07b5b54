<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A category; the tree is at most two levels deep.
 */
final readonly class Category extends Model
{
    protected const NULLABLE = ['children', ];
    protected const MAPS = [];

    /**
     * @param string $key Use it in the `category` filter.
     * @param string $name The category's name, which the filter accepts too.
     * @param list<Category>|null $children The subcategories; null if the category has none.
     */
    public function __construct(
        public string $key,
        public string $name,
        public ?array $children,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            key: $in->field('key')->string(),
            name: $in->field('name')->string(),
            children: $in->maybe('children')?->list(Category::of(...)),
        );
    }
}

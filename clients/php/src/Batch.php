<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Json\Elements;
use Tradecounter\Client\Model\Product;

/**
 * Changes to apply to a copy, and the cursor to store with them in one transaction.
 */
final readonly class Batch
{
    /**
     * @param bool $whole the products are the whole catalogue, so that the copy loses all others
     * @param Elements<Product>|list<Product> $products new ones and changed ones; one may be as the copy has it
     * @param list<string> $removed SKUs that the account cannot buy any more
     */
    public function __construct(
        public bool $whole,
        public Elements|array $products,
        public array $removed,
        public string $cursor,
    ) {
    }
}

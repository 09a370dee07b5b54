<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * What you ask about an order: to cancel or to return units of its items, or anything else in words.
 */
final readonly class OpenRequestRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $kind `cancel` units that are not dispatched, `return` dispatched ones, or a `message`.
     * @param string $order_reference The order reference or the numeric order id.
     * @param list<RequestedUnits>|null $items The units to cancel or to return; empty with a `message`.
     * @param string|null $text Why, or what else: up to 5,000 characters. Required without units.
     */
    public function __construct(
        public string $kind,
        public string $order_reference,
        public ?array $items = null,
        public ?string $text = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            kind: $in->field('kind')->string(),
            order_reference: $in->field('order_reference')->string(),
            items: $in->maybe('items')?->list(RequestedUnits::of(...)),
            text: $in->maybe('text')?->string(),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A request to support about an order, with the answer once there is one.
 */
final readonly class SupportRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $id The request's id.
     * @param string $kind What is asked.
     * @param string $state `open` until it is answered.
     * @param string $order_reference The order that it is about.
     * @param list<RequestItem> $items The units to cancel or to return.
     * @param string $text What was written.
     * @param string $opened_on When it was raised.
     * @param string|null $closed_on When it was answered.
     * @param string|null $answer What support says, once it is closed.
     */
    public function __construct(
        public int $id,
        public string $kind,
        public string $state,
        public string $order_reference,
        public array $items,
        public string $text,
        public string $opened_on,
        public ?string $closed_on = null,
        public ?string $answer = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->int(),
            kind: $in->field('kind')->string(),
            state: $in->field('state')->string(),
            order_reference: $in->field('order_reference')->string(),
            items: $in->field('items')->list(RequestItem::of(...)),
            text: $in->field('text')->string(),
            opened_on: $in->field('opened_on')->string(),
            closed_on: $in->maybe('closed_on')?->string(),
            answer: $in->maybe('answer')?->string(),
        );
    }
}

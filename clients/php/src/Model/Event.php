<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Something that happened, such as the dispatch of an order.
 */
final readonly class Event extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = ['data', ];

    /**
     * @param string $id Unique; use it to recognise an event that you have handled.
     * @param int $sequence The position in the log. Yours increase, with gaps.
     * @param string $type What happened.
     * @param string $occurred_at When it happened, in UTC.
     * @param string $subject What it happened to; the events of a subject are in order.
     * @param array<string, mixed> $data Ids, references and the status; more members may come.
     * @param int|null $customer_id The customer.
     */
    public function __construct(
        public string $id,
        public int $sequence,
        public string $type,
        public string $occurred_at,
        public string $subject,
        public array $data,
        public ?int $customer_id = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            id: $in->field('id')->string(),
            sequence: $in->field('sequence')->int(),
            type: $in->field('type')->string(),
            occurred_at: $in->field('occurred_at')->string(),
            subject: $in->field('subject')->string(),
            data: $in->field('data')->data(),
            customer_id: $in->maybe('customer_id')?->int(),
        );
    }
}

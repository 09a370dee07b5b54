<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * How the order is shipped. Once something is dispatched, an entry is a shipment, with `shipment_id`.
 */
final readonly class OrderShipping extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param int $method_id The shipping method's id.
     * @param float $cost_net Pounds, two decimal places.
     * @param float $cost_tax Pounds, two decimal places.
     * @param list<TrackingEvent> $tracking_events The courier's events, oldest first.
     * @param string|null $contact_email The e-mail address that the courier notifies.
     * @param string|null $contact_phone The phone number that the courier notifies.
     * @param string|null $tracking_number The courier's tracking number of the shipment.
     * @param string|null $last_tracking_status The type of the latest event.
     * @param int|null $shipment_id The shipment's id; absent before the dispatch.
     * @param string|null $carrier Who carries the shipment.
     * @param string|null $tracking_url The carrier's page about the shipment.
     * @param string|null $dispatched_on When the shipment left.
     * @param list<ShippedUnits>|null $items What is in the shipment; not in CSV.
     */
    public function __construct(
        public int $method_id,
        public float $cost_net,
        public float $cost_tax,
        public array $tracking_events,
        public ?string $contact_email = null,
        public ?string $contact_phone = null,
        public ?string $tracking_number = null,
        public ?string $last_tracking_status = null,
        public ?int $shipment_id = null,
        public ?string $carrier = null,
        public ?string $tracking_url = null,
        public ?string $dispatched_on = null,
        public ?array $items = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            method_id: $in->field('method_id')->int(),
            cost_net: $in->field('cost_net')->float(),
            cost_tax: $in->field('cost_tax')->float(),
            tracking_events: $in->field('tracking_events')->list(TrackingEvent::of(...)),
            contact_email: $in->maybe('contact_email')?->string(),
            contact_phone: $in->maybe('contact_phone')?->string(),
            tracking_number: $in->maybe('tracking_number')?->string(),
            last_tracking_status: $in->maybe('last_tracking_status')?->string(),
            shipment_id: $in->maybe('shipment_id')?->int(),
            carrier: $in->maybe('carrier')?->string(),
            tracking_url: $in->maybe('tracking_url')?->string(),
            dispatched_on: $in->maybe('dispatched_on')?->string(),
            items: $in->maybe('items')?->list(ShippedUnits::of(...)),
        );
    }
}

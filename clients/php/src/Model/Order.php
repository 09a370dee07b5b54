<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * A confirmed order; or a pending one, with the fields of its creation.
 */
final readonly class Order extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $customer_reference Your own reference.
     * @param float $cost_net Items only, without shipping.
     * @param float $cost_tax Pounds, two decimal places.
     * @param float $cost_gross Pounds, two decimal places.
     * @param string $status A label; new values may be added.
     * @param list<OrderItem> $items The lines.
     * @param CustomerAddress $shipping_address Where the order is sent.
     * @param int|null $id The numeric order id.
     * @param string|null $order_reference The order reference, such as ORD-100042.
     * @param string|null $created_on UK local time without an offset.
     * @param list<OrderShipping>|null $shipping One entry until something is dispatched, then one per shipment.
     * @param string|null $external_customer_id Your identifier for your own customer.
     * @param string|null $expected_dispatch_date When the remaining units are expected to be dispatched; absent if none remain, or if no known delivery covers them.
     * @param string|null $changed_on When the order changed last: its status, lines, shipments, tracking, serial numbers, configurations, packing video or address; not when a product's own data did.
     * @param CustomerAddress|null $billing_address
     * @param CreateOrderShipping|null $shipping_method
     * @param int|null $shipping_region The shipping region; 1 is the UK mainland.
     * @param NotificationDetails|null $order_notifications Gets the e-mails about the order, such as that it is confirmed, dispatched or invoiced.
     * @param NotificationDetails|null $courier_notifications The courier notifies this contact about the delivery.
     * @param bool|null $allow_back_orders `false` if the order must not wait for stock.
     * @param string|null $confirmation_code The code to confirm the order by.
     * @param list<CreateOrderShipping>|null $shipping_options The ways to ship the order, the cheapest first. Empty if no method fits a quote, until support has priced it.
     * @param float|null $shipping_weight The weight of all items, in kilograms.
     * @param string|null $expires_on Until when a pending order can be confirmed; absent if cancelled.
     */
    public function __construct(
        public string $customer_reference,
        public float $cost_net,
        public float $cost_tax,
        public float $cost_gross,
        public string $status,
        public array $items,
        public CustomerAddress $shipping_address,
        public ?int $id = null,
        public ?string $order_reference = null,
        public ?string $created_on = null,
        public ?array $shipping = null,
        public ?string $external_customer_id = null,
        public ?string $expected_dispatch_date = null,
        public ?string $changed_on = null,
        public ?CustomerAddress $billing_address = null,
        public ?CreateOrderShipping $shipping_method = null,
        public ?int $shipping_region = null,
        public ?NotificationDetails $order_notifications = null,
        public ?NotificationDetails $courier_notifications = null,
        public ?bool $allow_back_orders = null,
        public ?string $confirmation_code = null,
        public ?array $shipping_options = null,
        public ?float $shipping_weight = null,
        public ?string $expires_on = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            customer_reference: $in->field('customer_reference')->string(),
            cost_net: $in->field('cost_net')->float(),
            cost_tax: $in->field('cost_tax')->float(),
            cost_gross: $in->field('cost_gross')->float(),
            status: $in->field('status')->string(),
            items: $in->field('items')->list(OrderItem::of(...)),
            shipping_address: $in->field('shipping_address')->as(CustomerAddress::of(...)),
            id: $in->maybe('id')?->int(),
            order_reference: $in->maybe('order_reference')?->string(),
            created_on: $in->maybe('created_on')?->string(),
            shipping: $in->maybe('shipping')?->list(OrderShipping::of(...)),
            external_customer_id: $in->maybe('external_customer_id')?->string(),
            expected_dispatch_date: $in->maybe('expected_dispatch_date')?->string(),
            changed_on: $in->maybe('changed_on')?->string(),
            billing_address: $in->maybe('billing_address')?->as(CustomerAddress::of(...)),
            shipping_method: $in->maybe('shipping_method')?->as(CreateOrderShipping::of(...)),
            shipping_region: $in->maybe('shipping_region')?->int(),
            order_notifications: $in->maybe('order_notifications')?->as(NotificationDetails::of(...)),
            courier_notifications: $in->maybe('courier_notifications')?->as(NotificationDetails::of(...)),
            allow_back_orders: $in->maybe('allow_back_orders')?->bool(),
            confirmation_code: $in->maybe('confirmation_code')?->string(),
            shipping_options: $in->maybe('shipping_options')?->list(CreateOrderShipping::of(...)),
            shipping_weight: $in->maybe('shipping_weight')?->float(),
            expires_on: $in->maybe('expires_on')?->string(),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The order as requested, with its code, shipping options and costs; once confirmed, also its ids.
 */
final readonly class CreatedOrder extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $customer_reference Your own reference.
     * @param list<CreatedOrderItem> $items The priced lines.
     * @param CustomerAddress $billing_address
     * @param CustomerAddress $shipping_address
     * @param int $shipping_region The shipping region; 1 is the UK mainland.
     * @param string $confirmation_code The code to confirm the order by.
     * @param list<CreateOrderShipping> $shipping_options The ways to ship the order, the cheapest first. Empty if no method fits a quote, until support has priced it.
     * @param float $shipping_weight The weight of all items, in kilograms.
     * @param float $cost_net Items only, without shipping.
     * @param float $cost_tax Pounds, two decimal places.
     * @param float $cost_gross Pounds, two decimal places.
     * @param CreateOrderShipping|null $shipping_method
     * @param string|null $external_customer_id Your identifier for your own customer.
     * @param NotificationDetails|null $order_notifications Gets the e-mails about the order, such as that it is confirmed, dispatched or invoiced.
     * @param NotificationDetails|null $courier_notifications The courier notifies this contact about the delivery.
     * @param bool|null $auto_confirm As requested.
     * @param bool|null $allow_back_orders `false` if the order must not wait for stock.
     * @param int|null $order_id Set once confirmed.
     * @param string|null $order_reference Set once confirmed.
     */
    public function __construct(
        public string $customer_reference,
        public array $items,
        public CustomerAddress $billing_address,
        public CustomerAddress $shipping_address,
        public int $shipping_region,
        public string $confirmation_code,
        public array $shipping_options,
        public float $shipping_weight,
        public float $cost_net,
        public float $cost_tax,
        public float $cost_gross,
        public ?CreateOrderShipping $shipping_method = null,
        public ?string $external_customer_id = null,
        public ?NotificationDetails $order_notifications = null,
        public ?NotificationDetails $courier_notifications = null,
        public ?bool $auto_confirm = null,
        public ?bool $allow_back_orders = null,
        public ?int $order_id = null,
        public ?string $order_reference = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            customer_reference: $in->field('customer_reference')->string(),
            items: $in->field('items')->list(CreatedOrderItem::of(...)),
            billing_address: $in->field('billing_address')->as(CustomerAddress::of(...)),
            shipping_address: $in->field('shipping_address')->as(CustomerAddress::of(...)),
            shipping_region: $in->field('shipping_region')->int(),
            confirmation_code: $in->field('confirmation_code')->string(),
            shipping_options: $in->field('shipping_options')->list(CreateOrderShipping::of(...)),
            shipping_weight: $in->field('shipping_weight')->float(),
            cost_net: $in->field('cost_net')->float(),
            cost_tax: $in->field('cost_tax')->float(),
            cost_gross: $in->field('cost_gross')->float(),
            shipping_method: $in->maybe('shipping_method')?->as(CreateOrderShipping::of(...)),
            external_customer_id: $in->maybe('external_customer_id')?->string(),
            order_notifications: $in->maybe('order_notifications')?->as(NotificationDetails::of(...)),
            courier_notifications: $in->maybe('courier_notifications')?->as(NotificationDetails::of(...)),
            auto_confirm: $in->maybe('auto_confirm')?->bool(),
            allow_back_orders: $in->maybe('allow_back_orders')?->bool(),
            order_id: $in->maybe('order_id')?->int(),
            order_reference: $in->maybe('order_reference')?->string(),
        );
    }
}

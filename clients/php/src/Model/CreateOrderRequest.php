<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * An order to create.
 */
final readonly class CreateOrderRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $customer_reference Your own reference.
     * @param list<CreateOrderItem> $items The lines to order.
     * @param OrderAddressDetails $billing_address A full address, or the `id` of a saved address; with an `id`, the other fields are ignored.
     * @param OrderAddressDetails $shipping_address A full address, or the `id` of a saved address; with an `id`, the other fields are ignored.
     * @param ShippingChoice|null $shipping_method One of the shipping options.
     * @param int|null $shipping_region The shipping region; 1 is the UK mainland. By default, the address's region.
     * @param string|null $external_customer_id Your identifier for your own customer.
     * @param NotificationDetails|null $order_notifications Gets the e-mails about the order, such as that it is confirmed, dispatched or invoiced.
     * @param NotificationDetails|null $courier_notifications The courier notifies this contact about the delivery.
     * @param bool|null $auto_confirm Confirms the order immediately; not for quotes.
     * @param float|null $max_cost_gross The most that the items may cost together, in pounds with VAT, without shipping; above it, 409.
     * @param bool|null $allow_back_orders `false`: the order is rejected with 409, now or when it is confirmed, unless all is in stock.
     */
    public function __construct(
        public string $customer_reference,
        public array $items,
        public OrderAddressDetails $billing_address,
        public OrderAddressDetails $shipping_address,
        public ?ShippingChoice $shipping_method = null,
        public ?int $shipping_region = null,
        public ?string $external_customer_id = null,
        public ?NotificationDetails $order_notifications = null,
        public ?NotificationDetails $courier_notifications = null,
        public ?bool $auto_confirm = null,
        public ?float $max_cost_gross = null,
        public ?bool $allow_back_orders = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            customer_reference: $in->field('customer_reference')->string(),
            items: $in->field('items')->list(CreateOrderItem::of(...)),
            billing_address: $in->field('billing_address')->as(OrderAddressDetails::of(...)),
            shipping_address: $in->field('shipping_address')->as(OrderAddressDetails::of(...)),
            shipping_method: $in->maybe('shipping_method')?->as(ShippingChoice::of(...)),
            shipping_region: $in->maybe('shipping_region')?->int(),
            external_customer_id: $in->maybe('external_customer_id')?->string(),
            order_notifications: $in->maybe('order_notifications')?->as(NotificationDetails::of(...)),
            courier_notifications: $in->maybe('courier_notifications')?->as(NotificationDetails::of(...)),
            auto_confirm: $in->maybe('auto_confirm')?->bool(),
            max_cost_gross: $in->maybe('max_cost_gross')?->float(),
            allow_back_orders: $in->maybe('allow_back_orders')?->bool(),
        );
    }
}

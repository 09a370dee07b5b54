<?php

// Places the orders that its arguments name, and prints their references.

use Tradecounter\Client\Model\{ConfirmOrderRequest, CreateOrderItem, CreateOrderRequest, OrderAddressDetails, ShippingChoice};
use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$address = new OrderAddressDetails(
    contact_name: 'Ada Example',
    street_one: '1 Test Street',
    city: 'Leeds',
    zip: 'LS1 1AA',
    country_code: 'GB',
);
$shop = new Tradecounter(getenv('BASE'), getenv('KEY'));
$placed = [];
foreach (array_slice($argv, 1) as $reference) {
    $shop->credit();
    $created = $shop->createOrder(new CreateOrderRequest(
        customer_reference: $reference,
        items: [new CreateOrderItem(sku: 'CV-320P', quantity: 1)],
        billing_address: $address,
        shipping_address: $address,
    ));
    $choice = new ShippingChoice(id: $created->shipping_options[0]->id);
    $options = new ConfirmOrderRequest(shipping_method: $choice);
    $placed[$reference] = $shop->confirmOrder($created->confirmation_code, $options)->order_reference;
}
echo json_encode($placed);

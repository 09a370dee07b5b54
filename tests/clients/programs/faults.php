<?php

// Prints the classes of the errors that wrong requests get.

use Tradecounter\Client\Error\{ApiError, TradecounterError};
use Tradecounter\Client\Model\{CreateOrderItem, CreateOrderRequest, OrderAddressDetails};
use Tradecounter\Client\{Tradecounter, Webhook};

require 'vendor/autoload.php';

[$url, $key, $secret, $body] = array_map(getenv(...), ['BASE', 'KEY', 'SECRET', 'BODY']);
$headers = json_decode(getenv('HEADERS'), true);

function name(callable $work): string
{
    try {
        $work();
    } catch (JsonException) {
        return 'JsonException';
    } catch (TradecounterError $error) {
        return substr(strrchr($error::class, '\\'), 1);
    }
    return 'none';
}

$shop = new Tradecounter($url, $key);
$address = new OrderAddressDetails(id: $shop->addresses()[0]->id);
$items = [new CreateOrderItem(sku: 'NO-SUCH', quantity: 1)];
try {
    $shop->createOrder(new CreateOrderRequest('PO-wrong', $items, $address, $address));
} catch (ApiError $error) {
    $order = [name(fn () => throw $error), $error->status, $error->errors[0]->field, $error->requestId !== null];
}
echo json_encode([
    'order' => $order,
    'number' => name(
        fn () => $shop->createOrder(new CreateOrderRequest('PO-wrong', $items, $address, $address, max_cost_gross: NAN)),
    ),
    'product' => name(fn () => $shop->product('NO-SUCH')),
    'key' => name(fn () => (new Tradecounter($url, 'wrong'))->products()->current()),
    'nobody' => name(fn () => (new Tradecounter('http://127.0.0.1:9', $key, attempts: 2))->customer()),
    'event' => Webhook::verified($secret, $headers, $body)->type,
    'endless' => name(
        fn () => Webhook::verified($secret, ['Webhook-Timestamp' => str_repeat('9', 5000)] + $headers, $body),
    ),
    'forged' => name(fn () => Webhook::verified($secret, $headers, str_replace('1001', '1002', $body))),
]);

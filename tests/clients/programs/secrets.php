<?php

// Prints what a program shows of its client when it fails, and what comes of a line break in a header.

use Tradecounter\Client\Auth\{Consent, FileTokenStore};
use Tradecounter\Client\Error\NoResponse;
use Tradecounter\Client\Model\{CreateOrderRequest, OrderAddressDetails};
use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

ini_set('zend.exception_ignore_args', '0');
$shop = new Tradecounter('http://127.0.0.1:9', getenv('SECRET'), attempts: 1);
print_r($shop);
print_r(new Consent('shop', getenv('SECRET'), new FileTokenStore('none')));
try {
    $shop->customer();
} catch (NoResponse $error) {
    print_r($error->getTrace());
}
$order = new CreateOrderRequest('PO-1', [], new OrderAddressDetails(), new OrderAddressDetails());
foreach ([fn () => $shop->createOrder($order, "PO-1\r\nX-Api-Key: other"), fn () => (new Tradecounter('http://127.0.0.1:9', "key\n"))->customer()] as $request) {
    try {
        $request();
    } catch (InvalidArgumentException $error) {
        echo "{$error->getMessage()}\n";
    }
}

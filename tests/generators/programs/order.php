<?php

use GuzzleHttp\Client;
use OpenAPI\Client\Api\AccountApi;
use OpenAPI\Client\Api\CatalogueApi;
use OpenAPI\Client\Api\OrdersApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\ConfirmOrderRequest;
use OpenAPI\Client\Model\CreateOrderItem;
use OpenAPI\Client\Model\CreateOrderRequest;
use OpenAPI\Client\Model\OrderAddressDetails;
use OpenAPI\Client\Model\ShippingChoice;

$configuration = (new Configuration())->setHost(getenv('BASE'))->setApiKey('X-Api-Key', getenv('KEY'));
$orders = new OrdersApi(new Client(), $configuration);

$product = (new CatalogueApi(new Client(), $configuration))->getProduct('CV-320P');
$addresses = (new AccountApi(new Client(), $configuration))->listAddresses();
$saved = new OrderAddressDetails(['id' => $addresses[0]->getId()]);
$site = new OrderAddressDetails([
    'contact_name' => 'Sam Fitter', 'street_one' => '1 Site Road', 'city' => 'Leeds', 'zip' => 'LS1 4AP', 'country_code' => 'GB',
]);
$items = [new CreateOrderItem(['sku' => $product->getSku(), 'quantity' => 6])];

$wanted = new CreateOrderRequest([
    'customer_reference' => 'PO-php', 'items' => $items, 'billing_address' => $saved, 'shipping_address' => $site,
]);
$created = $orders->createOrder($wanted, 'php');
$choice = new ShippingChoice(['id' => $created->getShippingOptions()[0]->getId()]);
$confirmed = $orders->confirmOrder($created->getConfirmationCode(), new ConfirmOrderRequest(['shipping_method' => $choice]));
$read = $orders->getOrder($confirmed->getOrderReference());
$listed = $orders->listOrders(customer_reference: 'PO-php');

$second = $orders->createOrder(new CreateOrderRequest([
    'customer_reference' => 'PO-php-at-once', 'items' => $items, 'billing_address' => $saved, 'shipping_address' => $saved,
    'shipping_method' => $choice, 'auto_confirm' => true,
]));

try {
    $orders->getOrder('NOTHING');
} catch (ApiException $error) {
    $unknown = $error->getCode();
}

echo "sku {$product->getSku()}\nnet {$read->getCostNet()}\nfirst {$read->getOrderReference()}\n";
echo "second {$second->getOrderReference()}\nlisted {$listed[0]->getOrderReference()}\nunknown $unknown\n";

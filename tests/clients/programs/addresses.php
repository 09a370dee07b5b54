<?php

// Adds addresses, each after two other requests, and prints how many responses came.

use Tradecounter\Client\Error\NoResponse;
use Tradecounter\Client\Model\AddressDetails;
use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$shop = new Tradecounter(getenv('BASE'), getenv('KEY'));
$added = 0;
foreach (['Leeds', 'York', 'Hull', 'Ripon'] as $city) {
    $shop->customer();
    $shop->customer(); // the proxy loses the third response
    try {
        $shop->addAddress(new AddressDetails('Ada Example', '1 Test Street', $city, 'LS1 1AA', 'GB'));
        $added++;
    } catch (NoResponse) {
    }
}
echo $added;

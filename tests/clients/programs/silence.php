<?php

// Prints the seconds after which a service that says nothing is given up, once for a request that waits in it.

use Tradecounter\Client\Error\NoResponse;
use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$shop = new Tradecounter(getenv('BASE'), 'any', timeout: 1, attempts: 1);
$taken = [];
foreach ([fn () => $shop->customer(), fn () => $shop->events(wait: 2)->current()] as $request) {
    $begun = hrtime(true);
    try {
        $request();
    } catch (NoResponse) {
        $taken[] = (hrtime(true) - $begun) / 1e9;
    }
}
echo json_encode($taken);

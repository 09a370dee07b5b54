<?php

// Prints what brings a copy up to date, with as much memory as a small server allows.

use Tradecounter\Client\Tradecounter;

ini_set('memory_limit', '64M');
require 'vendor/autoload.php';

$printed = [];
foreach ((new Tradecounter(getenv('BASE'), 'any'))->sync(null) as $batch) {
    $read = [];
    foreach ($batch->products as $product) {
        $read[] = $product->sku;
    }
    $printed[] = ['whole' => $batch->whole, 'told' => count($batch->products), 'read' => $read];
}
echo json_encode($printed);

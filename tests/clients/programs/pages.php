<?php

// Prints the SKUs of all products, read page by page and by their SKUs.

use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$shop = new Tradecounter(getenv('BASE'), getenv('KEY'));
$listed = array_column(iterator_to_array($shop->products(['limit' => 50])), 'sku');
$bySku = array_column(iterator_to_array($shop->productsBySku([...$listed, 'NO-SUCH'])), 'sku');
echo json_encode(['listed' => $listed, 'by_sku' => $bySku]);

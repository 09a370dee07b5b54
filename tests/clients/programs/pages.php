<?php

// Prints the SKUs of all products, read page by page, at once and by their SKUs.

use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$shop = new Tradecounter(getenv('BASE'), getenv('KEY'));
$listed = array_column(iterator_to_array($shop->products(['limit' => 50])), 'sku');
$atOnce = array_column(iterator_to_array($shop->products(['limit' => 0, 'page' => 7])), 'sku');
$bySku = array_column(iterator_to_array($shop->productsBySku([...$listed, 'NO-SUCH'])), 'sku');
echo json_encode(['listed' => $listed, 'at_once' => $atOnce, 'by_sku' => $bySku]);

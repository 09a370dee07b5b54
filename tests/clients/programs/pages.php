<?php

// Prints the SKUs of all products, read page by page, at once and, with a text, by their SKUs.

use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$shop = new Tradecounter(getenv('BASE'), getenv('KEY'));
$listed = array_column(iterator_to_array($shop->products(['limit' => 50])), 'sku');
$atOnce = array_column(iterator_to_array($shop->products(['limit' => 0, 'page' => 7])), 'sku');
$described = iterator_to_array($shop->productsBySku([...$listed, 'NO-SUCH'], ['extra' => ['short_description']]));
$bySku = array_column(array_filter($described, fn ($product) => $product->short_description !== null), 'sku');
echo json_encode(['listed' => $listed, 'at_once' => $atOnce, 'by_sku' => $bySku]);

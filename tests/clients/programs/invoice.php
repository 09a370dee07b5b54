<?php

// Saves the latest invoice in a file.

use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

$shop = new Tradecounter(getenv('BASE'), getenv('KEY'));
file_put_contents($argv[1], $shop->invoiceFile($shop->invoices()->current()->number));

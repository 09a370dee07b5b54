<?php

// Acts for a customer, with the refresh token in a file: in two programs at once, and again with a token that was used.

use Tradecounter\Client\Auth\{Consent, FileTokenStore, Tokens};
use Tradecounter\Client\Error\ConsentEnded;
use Tradecounter\Client\Tradecounter;

require 'vendor/autoload.php';

[$url, $id, $secret] = array_map(getenv(...), ['BASE', 'CLIENT_ID', 'CLIENT_SECRET']);
[, $file] = $argv;
$store = new FileTokenStore("$file.json");
$shop = new Tradecounter($url, credentials: new Consent($id, $secret, $store));
if (isset($argv[2])) { // one of the programs
    echo $shop->customer()->last_name;
    exit;
}
$first = file_get_contents($file);
$store->save(new Tokens($first));
$line = implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, __FILE__, $file, 'one']));
$programs = [popen($line, 'r'), popen($line, 'r')];
$names = array_map(stream_get_contents(...), $programs);
array_map(pclose(...), $programs);
$store->save(new Tokens($first));
try {
    $shop->customer();
    $ended = false;
} catch (ConsentEnded) {
    $ended = true;
}
echo json_encode(['names' => $names, 'ended' => $ended]);

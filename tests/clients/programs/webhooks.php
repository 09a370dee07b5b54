<?php

// Prints the outcome of each webhook's request in its input: the event's id, or the class of the error.

use Tradecounter\Client\Webhook;

require 'vendor/autoload.php';

$outcomes = [];
foreach (json_decode(stream_get_contents(STDIN), true) as [$secret, $headers, $body]) {
    try {
        $outcomes[] = Webhook::verified($secret, $headers, $body)->id;
    } catch (Exception $error) {
        $outcomes[] = basename(strtr($error::class, '\\', '/'));
    }
}
echo json_encode($outcomes);

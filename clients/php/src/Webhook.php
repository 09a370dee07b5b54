<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Error\InvalidResponse;
use Tradecounter\Client\Error\NotGenuine;
use Tradecounter\Client\Json\Value;
use Tradecounter\Client\Model\Event;

/**
 * Webhooks: whether a request is from the service (Standard Webhooks, symmetric signatures).
 */
final class Webhook
{
    private const TOLERANCE = 300; // seconds
    private const SHORTEST_KEY = 16; // bytes

    /**
     * The event of a webhook's request, with the body exactly as received; throws NotGenuine.
     *
     * @param string $secret begins with `whsec_`
     * @param array<mixed> $headers as `getallheaders()` or a PSR-7 request has them, or `$_SERVER`
     */
    public static function verified(#[\SensitiveParameter] string $secret, array $headers, string $body): Event
    {
        $key = base64_decode(substr($secret, strlen('whsec_')), true);
        if (!str_starts_with($secret, 'whsec_') || $key === false || strlen($key) < self::SHORTEST_KEY) {
            throw new \InvalidArgumentException('the secret is not one of a webhook: it begins with whsec_');
        }
        $given = self::signed($headers);
        if (
            preg_match('/^[0-9]{1,12}$/D', $given['timestamp']) !== 1
            || abs(time() - (int) $given['timestamp']) > self::TOLERANCE
        ) {
            throw new NotGenuine('the time is missing, or more than five minutes away');
        }
        $digest = hash_hmac('sha256', "{$given['id']}.{$given['timestamp']}.$body", $key, true);
        $expected = 'v1,' . base64_encode($digest);
        foreach (explode(' ', $given['signature']) as $signature) {
            if (hash_equals($expected, $signature)) {
                return self::event($body);
            }
        }
        throw new NotGenuine('no signature is right');
    }

    /**
     * @param array<mixed> $headers
     * @return array{id: string, timestamp: string, signature: string}
     */
    private static function signed(array $headers): array
    {
        $found = ['id' => '', 'timestamp' => '', 'signature' => ''];
        foreach ($headers as $name => $value) {
            $value = is_array($value) && count($value) === 1 ? reset($value) : $value;
            if (is_string($value) && preg_match('/^(?:http_)?webhook[-_]([a-z]+)$/Di', (string) $name, $parts) === 1) {
                $part = strtolower($parts[1]);
                if (isset($found[$part])) {
                    $found[$part] = $value;
                }
            }
        }
        return $found;
    }

    private static function event(string $body): Event
    {
        try {
            return Event::of(Value::parsed($body));
        } catch (InvalidResponse $error) {
            throw new NotGenuine('the body is no event', previous: $error);
        }
    }
}

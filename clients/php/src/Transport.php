<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Error\NoResponse;

/**
 * Sends requests, and again where that can help: after lost responses, limits and faults that pass.
 *
 * @internal
 */
final class Transport
{
    private const FIRST_WAIT = 0.5; // seconds
    private const LONGEST_WAIT = 30.0;
    private const NO_CONTENT = 204;
    private const NOT_FOUND = 404;
    private const LIMITED = 429;
    private const BUSY = 409; // with Retry-After: a request with the same idempotency key is being processed
    private const FAULTS = [500, 502, 503, 504];
    private const UNSENT = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT];
    private const HOPELESS = [CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_SSL_CACERT];

    private readonly string $baseUrl;
    private readonly \CurlHandle $curl;

    /**
     * @param int $timeout seconds without a byte after which an attempt ends
     * @param float $patience seconds for all attempts
     */
    public function __construct(
        string $baseUrl,
        private readonly int $timeout,
        private readonly int $attempts,
        private readonly float $patience,
    ) {
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->curl = curl_init();
    }

    /**
     * The last reply, whatever its status; throws NoResponse.
     *
     * A request that is not repeatable is sent again only where it had no effect. What is not found when it is to be
     * deleted again has been deleted. `extraTime` is added to the timeout, in seconds, for requests that wait in the
     * service.
     *
     * @param array<string, string> $headers
     */
    public function send(
        string $method,
        string $path,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $body = null,
        bool $repeatable = true,
        int $extraTime = 0,
    ): Reply {
        $ends = $this->now() + $this->patience;
        $wasLost = false;
        for ($attempt = 1;; $attempt++) {
            $found = $this->attempt($method, $path, $headers, $body, $repeatable, $extraTime);
            $wait = $this->waitAfter($found, $attempt, $repeatable);
            if ($wait === null || $attempt >= $this->attempts || $this->now() + $wait > $ends) {
                if (is_int($found)) {
                    throw new NoResponse("$method $path: " . curl_strerror($found));
                }
                $isDeleted = $method === 'DELETE' && $wasLost && $found->status === self::NOT_FOUND;
                return $isDeleted ? new Reply(self::NO_CONTENT, $found->headers, '') : $found;
            }
            $wasLost = $wasLost || is_int($found) || in_array($found->status, self::FAULTS, true);
            usleep((int) ($wait * 1e6));
        }
    }

    /**
     * A reply, or curl's number of what went wrong.
     *
     * @param array<string, string> $headers
     */
    private function attempt(
        string $method,
        string $path,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $body,
        bool $repeatable,
        int $extraTime,
    ): Reply|int {
        $received = [];
        $lines = ['Expect:']; // without it, curl asks before it sends a large body
        foreach ($headers as $name => $value) {
            if (preg_match('/[\x00-\x1f\x7f]/', $value) === 1) { // curl would send a line break as it is
                throw new \InvalidArgumentException("$name has a control character, such as a line break");
            }
            $lines[] = "$name: $value";
        }
        curl_reset($this->curl); // keeps the connection
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $this->baseUrl . $path,
            CURLOPT_PATH_AS_IS => true, // a SKU can be `..`
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_ACCEPT_ENCODING => 'gzip',
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_CONNECTTIMEOUT => min($this->timeout, 10),
            CURLOPT_LOW_SPEED_LIMIT => 1,
            CURLOPT_LOW_SPEED_TIME => $this->timeout + $extraTime,
            // On a connection that was used before, curl itself sends again what got no response.
            CURLOPT_FRESH_CONNECT => !$repeatable,
            CURLOPT_HEADERFUNCTION => static function (\CurlHandle $_, string $line) use (&$received): int {
                if (str_starts_with($line, 'HTTP/')) {
                    $received = []; // of an interim response
                }
                [$name, $value] = [...explode(':', $line, 2), ''];
                $received[strtolower($name)] = trim($value);
                return strlen($line);
            },
        ]);
        if ($body !== null) {
            curl_setopt($this->curl, CURLOPT_POSTFIELDS, $body);
        }
        $content = curl_exec($this->curl);
        if (!is_string($content)) {
            $error = curl_errno($this->curl);
            $connected = curl_getinfo($this->curl, CURLINFO_PRETRANSFER_TIME) > 0;
            return $error === CURLE_OPERATION_TIMEDOUT && !$connected ? CURLE_COULDNT_CONNECT : $error;
        }
        return new Reply(curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $received, $content);
    }

    /** Seconds until the next attempt; null where it is of no use. */
    private function waitAfter(Reply|int $found, int $attempt, bool $repeatable): ?float
    {
        $spread = random_int(500, 1000) / 1000;
        $backoff = min(self::LONGEST_WAIT, self::FIRST_WAIT * 2 ** ($attempt - 1)) * $spread;
        if (is_int($found)) {
            $useful = $repeatable ? !in_array($found, self::HOPELESS, true) : in_array($found, self::UNSENT, true);
            return $useful ? $backoff : null;
        }
        $after = $found->retryAfter();
        $passing = $found->status === self::LIMITED
            || ($repeatable && in_array($found->status, self::FAULTS, true))
            || ($found->status === self::BUSY && $after !== null);
        if (!$passing) {
            return null;
        }
        return $after === null ? $backoff : $after + $backoff / 4;
    }

    private function now(): float
    {
        return hrtime(true) / 1e9;
    }
}

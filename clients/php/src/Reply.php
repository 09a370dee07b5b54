<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Error\ApiError;

/**
 * A response as received.
 *
 * @internal
 */
final readonly class Reply
{
    /**
     * @param array<string, string> $headers by their names in lower case
     */
    public function __construct(public int $status, public array $headers, public string $body)
    {
    }

    /** Seconds, if the service says when another attempt makes sense. */
    public function retryAfter(): ?int
    {
        $text = $this->headers['retry-after'] ?? '';
        return preg_match('/^[0-9]{1,9}$/D', $text) === 1 ? (int) $text : null;
    }

    /** The same reply; throws the ApiError that it is. */
    public function checked(): self
    {
        if ($this->status >= 200 && $this->status < 300) {
            return $this;
        }
        throw ApiError::of($this->status, $this->body, $this->headers['x-request-id'] ?? null, $this->retryAfter());
    }
}

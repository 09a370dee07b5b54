<?php

declare(strict_types=1);

namespace Tradecounter\Client\Auth;

use Tradecounter\Client\Transport;

/**
 * An API key.
 */
final readonly class Key implements Credentials
{
    public function __construct(#[\SensitiveParameter] private string $key)
    {
    }

    public function headers(Transport $transport): array
    {
        return ['X-Api-Key' => $this->key];
    }

    public function renew(): bool
    {
        return false;
    }

    /**
     * No dump shows the key.
     *
     * @return array<string, string>
     */
    public function __debugInfo(): array
    {
        return [];
    }
}

<?php

declare(strict_types=1);

namespace Tradecounter\Client\Auth;

/**
 * A customer's consent: the refresh token, which is good once, and the access token that requests send until it ends.
 */
final readonly class Tokens
{
    private const EARLY = 60; // seconds: an access token that ends sooner is renewed first

    /**
     * @param int $ends when the access token ends, in seconds since 1970
     */
    public function __construct(
        #[\SensitiveParameter] public string $refreshToken,
        #[\SensitiveParameter] public string $accessToken = '',
        public int $ends = 0,
    ) {
    }

    public function isFresh(): bool
    {
        return time() < $this->ends - self::EARLY;
    }
}

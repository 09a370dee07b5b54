<?php

declare(strict_types=1);

namespace Tradecounter\Client\Auth;

/**
 * Where the tokens of a consent are, for all processes of an application.
 *
 * Whoever uses a refresh token a second time ends the consent. So only one process at a time may renew it.
 */
interface TokenStore
{
    /**
     * Runs `work`, and returns what it returns, while no other process runs its own.
     *
     * @template Made
     * @param callable(): Made $work
     * @return Made
     */
    public function alone(callable $work): mixed;

    public function load(): Tokens;

    /** Stores the tokens for good, even if `alone` fails later: outside a transaction that it may have. */
    public function save(Tokens $tokens): void;
}

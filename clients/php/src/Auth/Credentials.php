<?php

declare(strict_types=1);

namespace Tradecounter\Client\Auth;

use Tradecounter\Client\Transport;

/**
 * How a client proves for whom it acts.
 */
interface Credentials
{
    /**
     * The headers of a request, which may need a request of its own.
     *
     * @return array<string, string>
     */
    public function headers(Transport $transport): array;

    /** Forget what was rejected; whether another attempt is of use. */
    public function renew(): bool;
}

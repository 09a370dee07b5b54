<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The issuer's public keys (RFC 7517).
 */
final readonly class KeySet extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param list<array<string, mixed>> $keys The key that signs; during a rotation, also the previous one.
     */
    public function __construct(
        public array $keys,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            keys: $in->field('keys')->list(static fn (Value $each): array => $each->data()),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * What a client says of itself.
 */
final readonly class ClientMetadata extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param list<string> $redirect_uris Where browsers go back to: https, or http on the person's own computer.
     * @param string|null $client_name Its name for people.
     */
    public function __construct(
        public array $redirect_uris,
        public ?string $client_name = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            redirect_uris: $in->field('redirect_uris')->list(static fn (Value $each): string => $each->string()),
            client_name: $in->maybe('client_name')?->string(),
        );
    }
}

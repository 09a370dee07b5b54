<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Whether the responding process should get requests.
 */
final readonly class Readiness extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param bool $ready Whether the process should get requests.
     * @param list<string> $reasons Why the process is not ready.
     * @param list<string> $warnings Problems to check, even if the process is ready.
     */
    public function __construct(
        public bool $ready,
        public array $reasons,
        public array $warnings,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            ready: $in->field('ready')->bool(),
            reasons: $in->field('reasons')->list(static fn (Value $each): string => $each->string()),
            warnings: $in->field('warnings')->list(static fn (Value $each): string => $each->string()),
        );
    }
}

<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * One request, or with `count` several requests of one minute.
 */
final readonly class LoggedRequest extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $at When it ended; with `count`, the minute.
     * @param string $method The method, such as `POST`.
     * @param string $path The path without its query; with `count`, the path of the operation.
     * @param int|null $status Not of reads that are only counted: all of them succeeded.
     * @param string|null $code The code of an error.
     * @param int|null $milliseconds How long it took, without the network.
     * @param string|null $request_id The response's `X-Request-Id`.
     * @param int|null $bytes The length of the response's body as it was sent.
     * @param int|null $count The number of requests in this minute.
     */
    public function __construct(
        public string $at,
        public string $method,
        public string $path,
        public ?int $status = null,
        public ?string $code = null,
        public ?int $milliseconds = null,
        public ?string $request_id = null,
        public ?int $bytes = null,
        public ?int $count = null,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            at: $in->field('at')->string(),
            method: $in->field('method')->string(),
            path: $in->field('path')->string(),
            status: $in->maybe('status')?->int(),
            code: $in->maybe('code')?->string(),
            milliseconds: $in->maybe('milliseconds')?->int(),
            request_id: $in->maybe('request_id')?->string(),
            bytes: $in->maybe('bytes')?->int(),
            count: $in->maybe('count')?->int(),
        );
    }
}

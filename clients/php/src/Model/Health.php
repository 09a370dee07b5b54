<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The responding process's state.
 */
final readonly class Health extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $status `degraded`: the database is away or cannot write, or products and prices are too old to be shown.
     * @param string $database While it is away, most requests get 503.
     * @param int $data_age Seconds since products, prices and stock were last verified.
     * @param bool $writes Whether the database can write. While its disk is full, reads work and changes get 503.
     */
    public function __construct(
        public string $status,
        public string $database,
        public int $data_age,
        public bool $writes,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            status: $in->field('status')->string(),
            database: $in->field('database')->string(),
            data_age: $in->field('data_age')->int(),
            writes: $in->field('writes')->bool(),
        );
    }
}

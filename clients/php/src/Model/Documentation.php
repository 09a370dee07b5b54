<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * The URLs of the interface documents, the reference and the guide.
 */
final readonly class Documentation extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $openapi_json The interface document as JSON.
     * @param string $openapi_yaml The interface document as YAML.
     * @param string $reference The reference of all operations and fields, with a form to try them.
     * @param string $guide The guide for customers.
     */
    public function __construct(
        public string $openapi_json,
        public string $openapi_yaml,
        public string $reference,
        public string $guide,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            openapi_json: $in->field('openapi_json')->string(),
            openapi_yaml: $in->field('openapi_yaml')->string(),
            reference: $in->field('reference')->string(),
            guide: $in->field('guide')->string(),
        );
    }
}

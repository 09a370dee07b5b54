<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * What agents need to know to ask a customer for access to `/mcp`.
 */
final readonly class ResourceMetadata extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $resource The address of the agents' server.
     * @param list<string> $authorization_servers The issuer of its tokens.
     * @param list<string> $scopes_supported What an agent can ask for.
     * @param list<string> $bearer_methods_supported Tokens come in `Authorization`.
     * @param string $resource_name Its name for people.
     * @param string $resource_documentation The guide.
     */
    public function __construct(
        public string $resource,
        public array $authorization_servers,
        public array $scopes_supported,
        public array $bearer_methods_supported,
        public string $resource_name,
        public string $resource_documentation,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            resource: $in->field('resource')->string(),
            authorization_servers: $in->field('authorization_servers')->list(static fn (Value $each): string => $each->string()),
            scopes_supported: $in->field('scopes_supported')->list(static fn (Value $each): string => $each->string()),
            bearer_methods_supported: $in->field('bearer_methods_supported')->list(static fn (Value $each): string => $each->string()),
            resource_name: $in->field('resource_name')->string(),
            resource_documentation: $in->field('resource_documentation')->string(),
        );
    }
}

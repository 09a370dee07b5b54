<?php

declare(strict_types=1);

namespace Tradecounter\Client\Json;

/**
 * A value of the API: fields without a value are null, and are not sent.
 */
abstract readonly class Model implements \JsonSerializable
{
    /** The fields that are sent as null. @var list<string> */
    protected const NULLABLE = [];

    /** The fields that are objects, even if they are empty. @var list<string> */
    protected const MAPS = [];

    /** @internal */
    abstract public static function of(Value $in): static;

    /** The model that `json_encode` made the text of; throws InvalidResponse. */
    public static function fromJson(string $json): static
    {
        return static::of(Value::parsed($json));
    }

    public function jsonSerialize(): object
    {
        $sent = [];
        foreach (get_object_vars($this) as $name => $value) {
            if ($value !== null || in_array($name, static::NULLABLE, true)) {
                $sent[$name] = is_array($value) && in_array($name, static::MAPS, true) ? (object) $value : $value;
            }
        }
        return (object) $sent;
    }
}

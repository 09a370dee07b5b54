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

    abstract public static function of(Value $in): self;

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

<?php

declare(strict_types=1);

namespace Tradecounter\Client\Json;

use Tradecounter\Client\Error\InvalidResponse;

/**
 * A value of a response, which models are made of. Unknown fields are ignored; all methods throw InvalidResponse.
 */
final readonly class Value
{
    private function __construct(private mixed $value, private string $name)
    {
    }

    public static function parsed(string $json): self
    {
        try {
            return new self(json_decode($json, true, flags: JSON_THROW_ON_ERROR), 'the response');
        } catch (\JsonException $error) {
            throw new InvalidResponse("the response is no JSON: {$error->getMessage()}", previous: $error);
        }
    }

    public function field(string $name): self
    {
        return $this->maybe($name) ?? throw new InvalidResponse("$name is missing");
    }

    /** A field, unless it is absent or null. */
    public function maybe(string $name): ?self
    {
        $value = $this->fields()[$name] ?? null;
        return $value === null ? null : new self($value, $name);
    }

    public function string(): string
    {
        return is_string($this->value) ? $this->value : $this->fail('string');
    }

    public function int(): int
    {
        return is_int($this->value) ? $this->value : $this->fail('whole number');
    }

    public function float(): float
    {
        return is_int($this->value) || is_float($this->value) ? (float) $this->value : $this->fail('number');
    }

    public function bool(): bool
    {
        return is_bool($this->value) ? $this->value : $this->fail('Boolean');
    }

    /**
     * @return array<string, mixed>
     */
    public function data(): array
    {
        $found = [];
        foreach ($this->fields() as $name => $value) {
            $found[(string) $name] = $value;
        }
        return $found;
    }

    /**
     * @template Made
     * @param callable(self): Made $make
     * @return Made
     */
    public function as(callable $make): mixed
    {
        return $make($this);
    }

    /**
     * @template Made
     * @param callable(self): Made $make
     * @return list<Made>
     */
    public function list(callable $make): array
    {
        if (!is_array($this->value) || !array_is_list($this->value)) {
            $this->fail('list');
        }
        $made = [];
        foreach ($this->value as $each) {
            $made[] = $make(new self($each, "an element of {$this->name}"));
        }
        return $made;
    }

    /**
     * @template Made
     * @param callable(self): Made $make
     * @return array<string, Made>
     */
    public function map(callable $make): array
    {
        $made = [];
        foreach ($this->fields() as $name => $each) {
            $made[(string) $name] = $make(new self($each, "{$this->name}.$name"));
        }
        return $made;
    }

    /**
     * @return array<mixed>
     */
    private function fields(): array
    {
        return is_array($this->value) ? $this->value : $this->fail('object');
    }

    private function fail(string $expected): never
    {
        throw new InvalidResponse("{$this->name} is no $expected");
    }
}

<?php

declare(strict_types=1);

namespace Tradecounter\Client\Json;

use Tradecounter\Client\Error\InvalidResponse;

/**
 * The elements of a long JSON list, each made when it is read: 20,000 products at once would need more memory than PHP
 * allows by default. Reading throws InvalidResponse.
 *
 * @template Made of Model
 * @implements \IteratorAggregate<int, Made>
 */
final readonly class Elements implements \IteratorAggregate, \Countable
{
    private const OBJECT = '/\G(\{(?:[^{}"]++|"(?:[^"\\\\]++|\\\\.)*+"|(?1))*+\})\s*+(?:,\s*+(?=\{)|(?=\]\s*+$))/';

    /**
     * @param \Closure(Value): Made $make
     */
    public function __construct(private string $json, private \Closure $make)
    {
    }

    /**
     * @return \Generator<int, Made>
     */
    public function getIterator(): \Generator
    {
        foreach ($this->objects() as $object) {
            yield ($this->make)(Value::parsed($object));
        }
    }

    public function count(): int
    {
        return iterator_count($this->objects());
    }

    /**
     * @return \Generator<int, string>
     */
    private function objects(): \Generator
    {
        if (preg_match('/^\s*\[\s*/', $this->json, $found) !== 1) {
            throw new InvalidResponse('the response is no list');
        }
        $place = strlen($found[0]);
        $end = strlen(rtrim($this->json)) - 1;
        while ($place < $end) {
            if (preg_match(self::OBJECT, $this->json, $found, 0, $place) !== 1) {
                throw new InvalidResponse('the response is no list of objects');
            }
            $place += strlen($found[0]);
            yield $found[1];
        }
        if ($this->json[$end] !== ']') {
            throw new InvalidResponse('the response is incomplete');
        }
    }
}

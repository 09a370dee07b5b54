<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Error\CursorExpired;
use Tradecounter\Client\Error\InvalidResponse;
use Tradecounter\Client\Json\Elements;
use Tradecounter\Client\Model\CatalogueChange;
use Tradecounter\Client\Model\Product;

/**
 * The change feed as a generator of batches, which survives restarts because each batch has its cursor.
 *
 * @internal
 */
final class CatalogueSync
{
    public function __construct(private readonly Connection $api)
    {
    }

    /**
     * Batches from a cursor on, endless with `wait`. An expired cursor begins again with the whole catalogue, and so
     * does an empty one: the service would begin with what changes from now on.
     *
     * @return \Generator<int, Batch>
     */
    public function batches(?string $after, ?int $wait): \Generator
    {
        for (;;) {
            try {
                $batch = $after === null || $after === '' ? $this->whole() : $this->changes($after, $wait);
            } catch (CursorExpired) {
                $after = null;
                continue;
            }
            yield $batch;
            if ($wait === null && !$batch->whole && count($batch->products) + count($batch->removed) === 0) {
                return;
            }
            $after = $batch->cursor;
        }
    }

    /** In one response: products move between the pages of a catalogue that changes. */
    private function whole(): Batch
    {
        $reply = $this->api->request('GET', '/product?limit=0');
        return new Batch(true, new Elements($reply->body, Product::of(...)), [], self::cursor($reply));
    }

    private function changes(string $after, ?int $wait): Batch
    {
        $parameters = ['after' => $after, 'limit' => 500, 'wait' => $wait];
        [$changes, $reply] = $this->api->list('/catalogue/change', CatalogueChange::of(...), $parameters, $wait ?? 0);
        [$products, $removed] = [[], []];
        foreach ($changes as $change) {
            if ($change->product === null) {
                $removed[] = $change->sku;
            } else {
                $products[] = $change->product;
            }
        }
        return new Batch(false, $products, $removed, self::cursor($reply));
    }

    private static function cursor(Reply $reply): string
    {
        return $reply->headers['x-cursor']
            ?? throw new InvalidResponse('the service sends no X-Cursor: it has no change feed');
    }
}

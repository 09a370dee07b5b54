<?php

// Generated from the interface document by openapi-generator: run `make docs`.

declare(strict_types=1);

namespace Tradecounter\Client\Model;

use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;


/**
 * Where to watch an order's packing video.
 */
final readonly class OrderVideoResponse extends Model
{
    protected const NULLABLE = [];
    protected const MAPS = [];

    /**
     * @param string $video_file The URL of the video file.
     * @param string $streaming_playlist The URL of the HLS playlist.
     */
    public function __construct(
        public string $video_file,
        public string $streaming_playlist,
    ) {
    }

    /** @internal */
    public static function of(Value $in): static
    {
        return new self(
            video_file: $in->field('video_file')->string(),
            streaming_playlist: $in->field('streaming_playlist')->string(),
        );
    }
}

<?php

declare(strict_types=1);

namespace Tradecounter\Client\Auth;

/**
 * Tokens in a file of a folder that only the application can read. Not for network drives: their locks may not hold.
 */
final readonly class FileTokenStore implements TokenStore
{
    public function __construct(private string $file)
    {
    }

    public function alone(callable $work): mixed
    {
        $lock = $this->opened("{$this->file}.lock");
        if (!flock($lock, LOCK_EX)) {
            throw new \RuntimeException("{$this->file}.lock cannot be locked");
        }
        try {
            return $work();
        } finally {
            fclose($lock);
        }
    }

    public function load(): Tokens
    {
        $text = @file_get_contents($this->file);
        $fields = $text === false ? null : json_decode($text, true);
        if (!is_array($fields) || !is_string($fields['refresh_token'] ?? null)) {
            throw new \RuntimeException("{$this->file} has no tokens: save those of the consent first");
        }
        $access = $fields['access_token'] ?? '';
        $ends = $fields['ends'] ?? 0;
        return new Tokens($fields['refresh_token'], is_string($access) ? $access : '', is_int($ends) ? $ends : 0);
    }

    public function save(Tokens $tokens): void
    {
        $fields = [
            'refresh_token' => $tokens->refreshToken,
            'access_token' => $tokens->accessToken,
            'ends' => $tokens->ends,
        ];
        $text = json_encode($fields, JSON_THROW_ON_ERROR);
        $part = "{$this->file}.part";
        $opened = $this->opened($part);
        if (
            !ftruncate($opened, 0) || fwrite($opened, $text) !== strlen($text)
            || !fsync($opened) || !rename($part, $this->file)
        ) {
            throw new \RuntimeException("{$this->file} cannot be written");
        }
    }

    /**
     * @return resource
     */
    private function opened(string $file)
    {
        $before = umask(0o077);
        $opened = @fopen($file, 'c');
        umask($before);
        return $opened === false ? throw new \RuntimeException("$file cannot be opened") : $opened;
    }
}

<?php

// Comes before each program: a notice, a warning or a deprecation is an error.

set_error_handler(static function (int $severity, string $message, string $file, int $line): bool {
    return (error_reporting() & $severity) === 0 ? false : throw new ErrorException($message, 0, $severity, $file, $line);
});

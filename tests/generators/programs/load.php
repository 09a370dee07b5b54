<?php
// Loads Guzzle, as Debian installs it, and every class of the client in this folder.

require '/usr/share/php/GuzzleHttp/autoload.php';

spl_autoload_register(function (string $class): void {
    $path = 'lib/' . str_replace('\\', '/', substr($class, strlen('OpenAPI\\Client\\'))) . '.php';
    if (is_file($path)) {
        require_once $path;
    }
});

foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator('lib')) as $file) {
    if ($file->getExtension() === 'php') {
        require_once $file->getPathname();
    }
}

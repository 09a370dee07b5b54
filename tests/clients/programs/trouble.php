<?php

// Does what its first argument names, and prints what came of it: something, or the class of the error.

use Tradecounter\Client\Auth\{Consent, FileTokenStore, Tokens, TokenStore};
use Tradecounter\Client\Model\AddressDetails;
use Tradecounter\Client\{Tradecounter, Webhook};

require 'vendor/autoload.php';

/** A store whose first new token cannot be stored. */
final class FullDisk implements TokenStore
{
    private bool $fails = true;

    public function __construct(private FileTokenStore $store)
    {
    }

    public function alone(callable $work): mixed
    {
        return $this->store->alone($work);
    }

    public function load(): Tokens
    {
        return $this->store->load();
    }

    public function save(Tokens $tokens): void
    {
        if ($this->fails) {
            $this->fails = false;
            throw new RuntimeException('the disk is full');
        }
        $this->store->save($tokens);
    }
}

[$url, $secret, $body, $headers] = array_map(getenv(...), ['BASE', 'SECRET', 'BODY', 'HEADERS']);
$headers = json_decode((string) $headers, true, flags: JSON_INVALID_UTF8_SUBSTITUTE);
$id = getenv('CLIENT_ID') ?: 'any';
$password = getenv('CLIENT_SECRET') ?: 'any';
[, $case, $file] = [...$argv, ''];
$shop = new Tradecounter($url, getenv('KEY') ?: 'any', timeout: 1, attempts: (int) (getenv('ATTEMPTS') ?: 6));

function name(callable $work): string
{
    try {
        $work();
    } catch (Throwable $error) {
        return basename(str_replace('\\', '/', $error::class));
    }
    return 'none';
}

function stored(string $file, string $token): FileTokenStore
{
    $store = new FileTokenStore("$file.json");
    $store->save(new Tokens($token));
    return $store;
}

function unsaved(string $url, string $id, string $password, string $file): array
{
    $store = stored($file, file_get_contents($file));
    $shop = new Tradecounter($url, credentials: new Consent($id, $password, new FullDisk($store)));
    $names = [name(fn () => $shop->customer()), name(fn () => $shop->customer())];
    file_put_contents($file, $store->load()->refreshToken);
    return $names;
}

function mistake(string $url): string
{
    try {
        (new Tradecounter($url, "first line\nsecret line"))->customer();
    } catch (InvalidArgumentException $error) {
        return $error->getMessage();
    }
}

echo json_encode(match ($case) {
    'webhook' => name(fn () => Webhook::verified($secret, $headers, $body)),
    'address' => $shop->addAddress(new AddressDetails('Ada Example', '1 Test Street', 'York', 'YO1 1AA', 'GB'))->id,
    'decline' => array_map(fn () => $shop->declineQuote($file)->status, range(1, 3)),
    'delete' => array_map(fn () => name(fn () => $shop->deleteAddress((int) $file)), range(1, 2)),
    'slow' => [count($shop->categories()), name(fn () => $shop->manufacturers())],
    'first' => (fn ($batch) => [$batch->whole, count($batch->products)])($shop->sync('')->current()),
    'blank' => array_map(fn ($product) => $product->sku, iterator_to_array($shop->productsBySku(['', ' ']), false)),
    'dots' => array_merge(...array_map(
        fn ($text) => [name(fn () => $shop->product($text)), name(fn () => $shop->order($text))],
        ['.', '..'],
    )),
    'unsaved' => unsaved($url, $id, $password, $file),
    'issuer' => name(
        fn () => (new Tradecounter($url, credentials: new Consent($id, $password, stored($file, 'any'))))->customer(),
    ),
    'mistake' => mistake($url),
    'proxy' => $shop->customer()->last_name,
});

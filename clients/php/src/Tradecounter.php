<?php

declare(strict_types=1);

namespace Tradecounter\Client;

use Tradecounter\Client\Auth\Credentials;
use Tradecounter\Client\Auth\Key;
use Tradecounter\Client\Json\Model;
use Tradecounter\Client\Json\Value;
use Tradecounter\Client\Model\AddConfigurationsRequest;
use Tradecounter\Client\Model\AddressDetails;
use Tradecounter\Client\Model\Category;
use Tradecounter\Client\Model\ConfirmOrderRequest;
use Tradecounter\Client\Model\CreatedOrder;
use Tradecounter\Client\Model\CreateOrderRequest;
use Tradecounter\Client\Model\CreditOverview;
use Tradecounter\Client\Model\Customer;
use Tradecounter\Client\Model\CustomerCreditNote;
use Tradecounter\Client\Model\CustomerInvoice;
use Tradecounter\Client\Model\CustomerPayment;
use Tradecounter\Client\Model\CustomerStatement;
use Tradecounter\Client\Model\DeclineQuoteRequest;
use Tradecounter\Client\Model\Event;
use Tradecounter\Client\Model\LoggedRequest;
use Tradecounter\Client\Model\Manufacturer;
use Tradecounter\Client\Model\OpenRequestRequest;
use Tradecounter\Client\Model\Order;
use Tradecounter\Client\Model\OrderItem;
use Tradecounter\Client\Model\OrderVideoResponse;
use Tradecounter\Client\Model\Product;
use Tradecounter\Client\Model\ProductAttribute;
use Tradecounter\Client\Model\Quote;
use Tradecounter\Client\Model\SavedAddress;
use Tradecounter\Client\Model\SupportRequest;

/**
 * A customer's access to the API, with a method for each operation.
 *
 * All methods throw ApiError, by the error's code, and NoResponse. Amounts are pounds; times are UK local time without
 * an offset, except those of events. Filters are those of the interface document, by name.
 *
 * @phpstan-type Filters array<string, string|int|bool|list<string>|null>
 */
final class Tradecounter
{
    private const SKUS_PER_REQUEST = 50;
    private const PDF = 'application/pdf';

    private readonly Connection $api;

    /**
     * @param int $timeout seconds without a byte after which an attempt ends
     * @param int $attempts how often a request is sent where that can help
     * @param float $patience seconds for all attempts; a page that somebody waits for needs less
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] string $key = '',
        ?Credentials $credentials = null,
        int $timeout = 30,
        int $attempts = 6,
        float $patience = 120,
    ) {
        $transport = new Transport($baseUrl, $timeout, $attempts, $patience);
        $this->api = new Connection($transport, $credentials ?? new Key($key));
    }

    /**
     * What the account can buy.
     *
     * @param Filters $filters
     * @return \Generator<int, Product>
     */
    public function products(array $filters = []): \Generator
    {
        return $this->pages('/product', Product::of(...), $filters);
    }

    /**
     * Those of some SKUs that the account can buy.
     *
     * @param list<string> $skus
     * @param Filters $filters
     * @return \Generator<int, Product>
     */
    public function productsBySku(array $skus, array $filters = []): \Generator
    {
        // Without any, the service would list the whole catalogue.
        $wanted = array_filter($skus, static fn (string $sku): bool => trim($sku) !== '');
        foreach (array_chunk($wanted, self::SKUS_PER_REQUEST) as $some) {
            foreach ($this->products([...$filters, 'sku' => $some]) as $product) {
                yield $product; // no `yield from`, which would repeat keys
            }
        }
    }

    /**
     * @param Filters $filters
     */
    public function product(string $sku, array $filters = []): Product
    {
        return $this->api->get(self::path('/product/%s', $sku), Product::of(...), $filters);
    }

    /**
     * @return list<Category>
     */
    public function categories(): array
    {
        return $this->api->list('/category', Category::of(...))[0];
    }

    /**
     * @return list<Manufacturer>
     */
    public function manufacturers(): array
    {
        return $this->api->list('/manufacturer', Manufacturer::of(...))[0];
    }

    /**
     * @return list<ProductAttribute>
     */
    public function attributes(): array
    {
        return $this->api->list('/attribute', ProductAttribute::of(...))[0];
    }

    /**
     * What brings a copy of the catalogue up to date: store each batch together with its cursor.
     *
     * `after` is the stored cursor; null gets the whole catalogue first. With `wait`, at most 20 seconds, the generator
     * never ends, and has a batch as soon as there is a change; without it, it ends when the copy is current.
     *
     * @return \Generator<int, Batch>
     */
    public function sync(?string $after, ?int $wait = null): \Generator
    {
        return (new CatalogueSync($this->api))->batches($after, $wait);
    }

    /**
     * Creates a pending order; with `auto_confirm`, a confirmed one.
     *
     * However often it is sent, it is created once. Give a key that you have stored, and the order is created once even
     * if the program dies and tries again; without one, each call makes a key of its own.
     */
    public function createOrder(CreateOrderRequest $order, ?string $idempotencyKey = null): CreatedOrder
    {
        return $this->post('/order', CreatedOrder::of(...), $order, $idempotencyKey);
    }

    public function confirmOrder(string $confirmationCode, ?ConfirmOrderRequest $options = null): CreatedOrder
    {
        $path = self::path('/order/%s', $confirmationCode);
        return $this->api->send('PUT', $path, CreatedOrder::of(...), $options ?? new ConfirmOrderRequest());
    }

    /**
     * Confirmed orders, newest first.
     *
     * @param Filters $filters
     * @return \Generator<int, Order>
     */
    public function orders(array $filters = []): \Generator
    {
        return $this->pages('/order', Order::of(...), $filters);
    }

    /** One by its reference; a pending one by its confirmation code. */
    public function order(string $reference): Order
    {
        return $this->api->get(self::path('/order/%s', $reference), Order::of(...));
    }

    /** Not sent again after a lost response: read the order then. */
    public function addConfigurations(string $reference, int $itemId, AddConfigurationsRequest $request): OrderItem
    {
        $path = self::path('/order/%s/item/%s/configuration', $reference, $itemId);
        return $this->api->send('POST', $path, OrderItem::of(...), $request, repeatable: false);
    }

    public function packingVideo(string $reference): OrderVideoResponse
    {
        return $this->api->get(self::path('/order/%s/video', $reference), OrderVideoResponse::of(...));
    }

    /** Asks for prices; keys are as those of `createOrder`. */
    public function createQuote(CreateOrderRequest $quote, ?string $idempotencyKey = null): CreatedOrder
    {
        return $this->post('/quote', CreatedOrder::of(...), $quote, $idempotencyKey);
    }

    /**
     * @return \Generator<int, Quote>
     */
    public function quotes(): \Generator
    {
        return $this->pages('/quote', Quote::of(...));
    }

    public function quote(string $confirmationCode): Quote
    {
        return $this->api->get(self::path('/quote/%s', $confirmationCode), Quote::of(...));
    }

    public function declineQuote(string $confirmationCode, ?DeclineQuoteRequest $request = null): Quote
    {
        $path = self::path('/quote/%s/decline', $confirmationCode);
        return $this->api->send('POST', $path, Quote::of(...), $request ?? new DeclineQuoteRequest());
    }

    /** Asks support to cancel, return or anything else; keys are as those of `createOrder`. */
    public function openRequest(OpenRequestRequest $request, ?string $idempotencyKey = null): SupportRequest
    {
        return $this->post('/request', SupportRequest::of(...), $request, $idempotencyKey);
    }

    /**
     * @param Filters $filters
     * @return \Generator<int, SupportRequest>
     */
    public function requests(array $filters = []): \Generator
    {
        return $this->pages('/request', SupportRequest::of(...), $filters);
    }

    public function customer(): Customer
    {
        return $this->api->get('/customer', Customer::of(...));
    }

    public function credit(): CreditOverview
    {
        return $this->api->get('/customer/credit', CreditOverview::of(...));
    }

    /**
     * @return list<SavedAddress>
     */
    public function addresses(): array
    {
        return $this->api->list('/customer/address', SavedAddress::of(...))[0];
    }

    /** Not sent again after a lost response: read the addresses then. */
    public function addAddress(AddressDetails $address): SavedAddress
    {
        return $this->api->send('POST', '/customer/address', SavedAddress::of(...), $address, repeatable: false);
    }

    public function replaceAddress(int $id, AddressDetails $address): SavedAddress
    {
        return $this->api->send('PUT', self::path('/customer/address/%s', $id), SavedAddress::of(...), $address);
    }

    public function deleteAddress(int $id): void
    {
        $this->api->request('DELETE', self::path('/customer/address/%s', $id));
    }

    /** All invoices of an order, as a PDF file. */
    public function orderInvoices(string $reference): string
    {
        $path = self::path('/order/%s/invoice', $reference);
        return $this->api->request('GET', $path, accept: self::PDF)->body;
    }

    /**
     * Newest first.
     *
     * @param Filters $filters
     * @return \Generator<int, CustomerInvoice>
     */
    public function invoices(array $filters = []): \Generator
    {
        return $this->pages('/invoice', CustomerInvoice::of(...), $filters);
    }

    public function invoice(int $number): CustomerInvoice
    {
        return $this->api->get(self::path('/invoice/%s', $number), CustomerInvoice::of(...));
    }

    /** The PDF file. */
    public function invoiceFile(int $number): string
    {
        return $this->api->request('GET', self::path('/invoice/%s', $number), accept: self::PDF)->body;
    }

    /**
     * @param Filters $filters
     * @return \Generator<int, CustomerCreditNote>
     */
    public function creditNotes(array $filters = []): \Generator
    {
        return $this->pages('/credit-note', CustomerCreditNote::of(...), $filters);
    }

    public function creditNote(int $number): CustomerCreditNote
    {
        return $this->api->get(self::path('/credit-note/%s', $number), CustomerCreditNote::of(...));
    }

    /** The PDF file. */
    public function creditNoteFile(int $number): string
    {
        return $this->api->request('GET', self::path('/credit-note/%s', $number), accept: self::PDF)->body;
    }

    /**
     * @param Filters $filters
     * @return \Generator<int, CustomerPayment>
     */
    public function payments(array $filters = []): \Generator
    {
        return $this->pages('/payment', CustomerPayment::of(...), $filters);
    }

    /** The account between two UK days, such as 2026-03-01, both included. */
    public function statement(?string $first = null, ?string $last = null): CustomerStatement
    {
        return $this->api->get('/statement', CustomerStatement::of(...), ['from' => $first, 'to' => $last]);
    }

    /**
     * Events after a sequence, oldest first: store the sequence of each when it is handled.
     *
     * With `wait`, at most 20 seconds, the generator never ends; without it, it ends when there is no further event.
     *
     * @param list<string> $types
     * @return \Generator<int, Event>
     */
    public function events(int $after = 0, array $types = [], ?int $wait = null): \Generator
    {
        do {
            $parameters = ['after' => $after, 'type' => $types, 'limit' => 500, 'wait' => $wait];
            [$found] = $this->api->list('/event', Event::of(...), $parameters, $wait ?? 0);
            foreach ($found as $event) {
                yield $event;
                $after = $event->sequence;
            }
        } while ($found !== [] || $wait !== null);
    }

    /**
     * The latest requests with this credential, at most 500: what the service saw of this program.
     *
     * @return list<LoggedRequest>
     */
    public function requestLog(int $limit = 100, bool $errors = false): array
    {
        $parameters = ['limit' => $limit, 'errors' => $errors ? true : null];
        return $this->api->list('/request-log', LoggedRequest::of(...), $parameters)[0];
    }

    /**
     * @template Made of Model
     * @param callable(Value): Made $make
     * @return Made
     */
    private function post(string $path, callable $make, Model $request, ?string $idempotencyKey): Model
    {
        return $this->api->send('POST', $path, $make, $request, $idempotencyKey ?? bin2hex(random_bytes(16)));
    }

    /**
     * @template Listed of Model
     * @param callable(Value): Listed $make
     * @param Filters $filters
     * @return \Generator<int, Listed>
     */
    private function pages(string $path, callable $make, array $filters = []): \Generator
    {
        $page = 1;
        do {
            [$found, $reply] = $this->api->list($path, $make, ['limit' => 500, ...$filters, 'page' => $page]);
            foreach ($found as $each) { // no `yield from`, which would repeat keys
                yield $each;
            }
            $pages = (int) ($reply->headers['x-total-pages'] ?? $page);
        } while ($page++ < $pages);
    }

    private static function path(string $pattern, string|int ...$parts): string
    {
        return vsprintf($pattern, array_map(rawurlencode(...), array_map(strval(...), $parts)));
    }
}

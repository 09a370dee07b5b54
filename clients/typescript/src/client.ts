/** The client: a method for each operation of the API. */

import { Connection, type Parameters } from "./connection.js";
import { type Credentials, Key } from "./credentials.js";
import type * as models from "./schema.js";
import { type Batch, batches } from "./sync.js";
import { Transport } from "./transport.js";

const SKUS_PER_REQUEST = 50;
const PDF = { accept: "application/pdf" };

type Query<Name extends keyof models.operations> = Omit<
  NonNullable<models.operations[Name]["parameters"]["query"]>,
  "accept" | "page"
>;

export interface TradecounterOptions {
  /** Instead of a key. */
  credentials?: Credentials;
  /** Seconds without a byte after which an attempt ends; 30 by default. */
  timeout?: number;
  /** How often a request is sent where that can help; 6 by default. */
  attempts?: number;
  /** Seconds for all attempts; 120 by default. */
  patience?: number;
}

/**
 * A customer's access to the API.
 *
 * All methods throw ApiError, by the error's code, and NoResponse. Amounts are pounds; times are UK local time without
 * an offset, except those of events.
 */
export class Tradecounter {
  readonly #api: Connection;

  constructor(baseUrl: string, key = "", options: TradecounterOptions = {}) {
    const { credentials = new Key(key), timeout = 30, attempts = 6, patience = 120 } = options;
    this.#api = new Connection(new Transport(baseUrl, timeout, attempts, patience), credentials);
  }

  /** What the account can buy. */
  products(filters: Query<"listProducts"> = {}): AsyncGenerator<models.Product> {
    return this.#pages("/product", filters);
  }

  /** Those of some SKUs that the account can buy. */
  async *productsBySku(skus: readonly string[], filters: Query<"getProduct"> = {}): AsyncGenerator<models.Product> {
    const wanted = skus.filter((sku) => sku.trim()); // without any, the service would list the whole catalogue
    for (let start = 0; start < wanted.length; start += SKUS_PER_REQUEST) {
      yield* this.products({ ...filters, sku: wanted.slice(start, start + SKUS_PER_REQUEST) });
    }
  }

  product(sku: string, filters: Query<"getProduct"> = {}): Promise<models.Product> {
    return this.#api.get(`/product/${part(sku)}`, filters);
  }

  categories(): Promise<models.Category[]> {
    return this.#api.get("/category");
  }

  manufacturers(): Promise<models.Manufacturer[]> {
    return this.#api.get("/manufacturer");
  }

  attributes(): Promise<models.ProductAttribute[]> {
    return this.#api.get("/attribute");
  }

  /**
   * What brings a copy of the catalogue up to date: store each batch together with its cursor.
   *
   * `after` is the stored cursor; null gets the whole catalogue first. With `wait`, at most 20 seconds, the iterator
   * never ends, and has a batch as soon as there is a change; without it, it ends when the copy is current.
   */
  sync(after: string | null, wait?: number): AsyncGenerator<Batch> {
    return batches(this.#api, after, wait);
  }

  /**
   * Creates a pending order; with `auto_confirm`, a confirmed one.
   *
   * However often it is sent, it is created once. Give a key that you have stored, and the order is created once even if
   * the program dies and tries again; without one, each call makes a key of its own.
   */
  createOrder(order: models.CreateOrderRequest, idempotencyKey?: string): Promise<models.CreatedOrder> {
    return this.#post("/order", order, idempotencyKey);
  }

  confirmOrder(confirmationCode: string, options: models.ConfirmOrderRequest = {}): Promise<models.CreatedOrder> {
    return this.#api.send("PUT", `/order/${part(confirmationCode)}`, options);
  }

  /** Confirmed orders, newest first. */
  orders(filters: Query<"listOrders"> = {}): AsyncGenerator<models.Order> {
    return this.#pages("/order", filters);
  }

  /** One by its reference; a pending one by its confirmation code. */
  order(reference: string): Promise<models.Order> {
    return this.#api.get(`/order/${part(reference)}`);
  }

  /** Not sent again after a lost response: read the order then. */
  addConfigurations(
    reference: string,
    itemId: number,
    request: models.AddConfigurationsRequest,
  ): Promise<models.OrderItem> {
    const path = `/order/${part(reference)}/item/${itemId}/configuration`;
    return this.#api.send("POST", path, request, { repeatable: false });
  }

  packingVideo(reference: string): Promise<models.OrderVideoResponse> {
    return this.#api.get(`/order/${part(reference)}/video`);
  }

  /** Asks for prices; keys are as those of `createOrder`. */
  createQuote(quote: models.CreateOrderRequest, idempotencyKey?: string): Promise<models.CreatedOrder> {
    return this.#post("/quote", quote, idempotencyKey);
  }

  quotes(): AsyncGenerator<models.Quote> {
    return this.#pages("/quote");
  }

  quote(confirmationCode: string): Promise<models.Quote> {
    return this.#api.get(`/quote/${part(confirmationCode)}`);
  }

  declineQuote(confirmationCode: string, request: models.DeclineQuoteRequest = {}): Promise<models.Quote> {
    return this.#api.send("POST", `/quote/${part(confirmationCode)}/decline`, request);
  }

  /** Asks support to cancel, return or anything else; keys are as those of `createOrder`. */
  openRequest(request: models.OpenRequestRequest, idempotencyKey?: string): Promise<models.SupportRequest> {
    return this.#post("/request", request, idempotencyKey);
  }

  requests(filters: Query<"listRequests"> = {}): AsyncGenerator<models.SupportRequest> {
    return this.#pages("/request", filters);
  }

  customer(): Promise<models.Customer> {
    return this.#api.get("/customer");
  }

  credit(): Promise<models.CreditOverview> {
    return this.#api.get("/customer/credit");
  }

  addresses(): Promise<models.SavedAddress[]> {
    return this.#api.get("/customer/address");
  }

  /** Not sent again after a lost response: read the addresses then. */
  addAddress(address: models.AddressDetails): Promise<models.SavedAddress> {
    return this.#api.send("POST", "/customer/address", address, { repeatable: false });
  }

  replaceAddress(id: number, address: models.AddressDetails): Promise<models.SavedAddress> {
    return this.#api.send("PUT", `/customer/address/${id}`, address);
  }

  async deleteAddress(id: number): Promise<void> {
    await this.#api.request("DELETE", `/customer/address/${id}`);
  }

  /** All invoices of an order, as a PDF file. */
  async orderInvoices(reference: string): Promise<Uint8Array> {
    return (await this.#api.request("GET", `/order/${part(reference)}/invoice`, undefined, PDF)).bytes;
  }

  /** Newest first. */
  invoices(filters: Query<"listInvoices"> = {}): AsyncGenerator<models.CustomerInvoice> {
    return this.#pages("/invoice", filters);
  }

  invoice(number: number): Promise<models.CustomerInvoice> {
    return this.#api.get(`/invoice/${number}`);
  }

  /** The PDF file. */
  async invoiceFile(number: number): Promise<Uint8Array> {
    return (await this.#api.request("GET", `/invoice/${number}`, undefined, PDF)).bytes;
  }

  creditNotes(filters: Query<"listCreditNotes"> = {}): AsyncGenerator<models.CustomerCreditNote> {
    return this.#pages("/credit-note", filters);
  }

  creditNote(number: number): Promise<models.CustomerCreditNote> {
    return this.#api.get(`/credit-note/${number}`);
  }

  /** The PDF file. */
  async creditNoteFile(number: number): Promise<Uint8Array> {
    return (await this.#api.request("GET", `/credit-note/${number}`, undefined, PDF)).bytes;
  }

  payments(filters: Query<"listPayments"> = {}): AsyncGenerator<models.CustomerPayment> {
    return this.#pages("/payment", filters);
  }

  /** The account between two UK days, such as 2026-03-01, both included. */
  statement(first?: string, last?: string): Promise<models.CustomerStatement> {
    return this.#api.get("/statement", { from: first, to: last });
  }

  /**
   * Events after a sequence, oldest first: store the sequence of each when it is handled.
   *
   * With `wait`, at most 20 seconds, the iterator never ends; without it, it ends when there is no further event.
   */
  async *events(after = 0, types: readonly string[] = [], wait?: number): AsyncGenerator<models.Event> {
    for (let last = after; ; ) {
      const found = await this.#api.get<models.Event[]>(
        "/event",
        { after: last, type: types, limit: 500, wait },
        wait ?? 0,
      );
      for (const event of found) {
        yield event;
        last = event.sequence;
      }
      if (found.length === 0 && wait === undefined) return;
    }
  }

  /** The latest requests with this credential, at most 500: what the service saw of this program. */
  requestLog(limit = 100, errors = false): Promise<models.LoggedRequest[]> {
    return this.#api.get("/request-log", { limit, errors: errors ? "true" : undefined });
  }

  #post<Made>(path: string, request: unknown, idempotencyKey: string = crypto.randomUUID()): Promise<Made> {
    return this.#api.send("POST", path, request, { idempotencyKey });
  }

  async *#pages<Listed>(path: string, filters: Parameters = {}): AsyncGenerator<Listed> {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const [found, reply] = await this.#api.read<Listed[]>(path, { limit: 500, ...filters, page });
      yield* found;
      pages = Number(reply.headers.get("x-total-pages") ?? page);
    }
  }
}

/** A part of a path. To `fetch`, `..` is a step up, however it is encoded; the service ignores the space behind it. */
function part(text: string): string {
  return text === "." || text === ".." ? `${text}%20` : encodeURIComponent(text);
}

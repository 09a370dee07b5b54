/** Sends requests, and again where that can help: after lost responses, limits and faults that pass. */

import { errorOf, InvalidResponse, NoResponse } from "./errors.js";

const FIRST_WAIT = 0.5; // seconds
const LONGEST_WAIT = 30;
const FAULTS = [500, 502, 503, 504];
// What Node.js calls it when there was no connection, so that the request had no effect.
const UNSENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Whether it may be sent again where it may have had an effect. */
  repeatable: boolean;
  /** Seconds to add to the timeout, for requests that wait in the service. */
  extraTime?: number;
}

/** A response as received. */
export class Reply {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly bytes: Uint8Array,
  ) {}

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** Seconds, if the service says when another attempt makes sense. */
  get retryAfter(): number | null {
    const text = this.headers.get("retry-after") ?? "";
    return /^\d+$/.test(text) ? Number(text) : null;
  }

  /** The same reply; throws the ApiError that it is. */
  checked(): Reply {
    if (this.status >= 200 && this.status < 300) return this;
    throw errorOf(this.status, this.text, this.headers.get("x-request-id"), this.retryAfter);
  }

  /** What its JSON is; throws InvalidResponse. */
  made<Made>(): Made {
    try {
      return JSON.parse(this.text) as Made;
    } catch (error) {
      throw new InvalidResponse("the response is no JSON", { cause: error });
    }
  }
}

export class Transport {
  readonly #baseUrl: string;

  /** `timeout`: seconds without a byte after which an attempt ends. `patience`: seconds for all attempts. */
  constructor(
    baseUrl: string,
    readonly timeout: number,
    readonly attempts: number,
    readonly patience: number,
  ) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
  }

  /** The last reply, whatever its status; throws NoResponse, and TypeError for a header that cannot be sent. */
  async send(request: Request): Promise<Reply> {
    for (const [name, value] of Object.entries(request.headers)) {
      if (!/^[ -~]*$/.test(value)) throw new TypeError(`${name} has a character that is not printable ASCII`);
    }
    const ends = performance.now() + this.patience * 1000;
    let wasLost = false;
    for (let attempt = 1; ; attempt++) {
      const found = await this.#try(request);
      const wait = waitBefore(found, attempt, request.repeatable);
      if (wait === null || attempt >= this.attempts || performance.now() + wait * 1000 > ends) {
        if (found instanceof Reply) {
          const isDeleted = request.method === "DELETE" && wasLost && found.status === 404;
          return isDeleted ? new Reply(204, found.headers, new Uint8Array()) : found;
        }
        throw new NoResponse(`${request.method} ${request.path}: ${found.message}`, { cause: found });
      }
      wasLost ||= !(found instanceof Reply) || FAULTS.includes(found.status);
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }

  async #try(request: Request): Promise<Reply | Error> {
    const silence = new Silence(this.timeout + (request.extraTime ?? 0));
    try {
      const response = await fetch(this.#baseUrl + request.path, {
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        redirect: "manual",
        signal: silence.signal,
      });
      return new Reply(response.status, response.headers, await silence.bytesOf(response));
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      silence.end();
    }
  }
}

/** Ends an attempt after so many seconds without a byte: a large catalogue may take longer altogether. */
class Silence {
  readonly #controller = new AbortController();
  readonly #milliseconds: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(seconds: number) {
    this.#milliseconds = seconds * 1000;
    this.#begin();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async bytesOf(response: Response): Promise<Uint8Array> {
    const pieces: BlobPart[] = [];
    const reader = response.body?.getReader();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      this.#begin();
      pieces.push(next.value);
    }
    return new Uint8Array(await new Blob(pieces).arrayBuffer());
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #begin(): void {
    this.end();
    this.#timer = setTimeout(() => this.#controller.abort(new Error("the service is silent")), this.#milliseconds);
  }
}

/** Seconds until the next attempt; null where it is of no use. */
function waitBefore(found: Reply | Error, attempt: number, repeatable: boolean): number | null {
  const backoff = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  if (!(found instanceof Reply)) return repeatable || wasUnsent(found) ? backoff : null;
  const passing =
    found.status === 429 ||
    (repeatable && FAULTS.includes(found.status)) ||
    (found.status === 409 && found.retryAfter !== null); // a request with the same key is being processed
  if (!passing) return null;
  return found.retryAfter === null ? backoff : found.retryAfter + backoff / 4;
}

function wasUnsent(error: Error): boolean {
  const cause: unknown = error.cause;
  if (typeof cause !== "object" || cause === null || !("code" in cause) || !UNSENT.includes(String(cause.code))) {
    return false;
  }
  // A connection that stands can lose its host, too: then the request may have arrived.
  return !("syscall" in cause) || (cause.syscall !== "read" && cause.syscall !== "write");
}

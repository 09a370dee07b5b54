/** Sends requests, and again where that can help: after lost responses, limits and faults that pass. */

import { errorOf, NoResponse } from "./errors.js";

const FIRST_WAIT = 0.5; // seconds
const LONGEST_WAIT = 30;
const FAULTS = [500, 502, 503, 504];

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
}

export class Transport {
  readonly #baseUrl: string;

  constructor(
    baseUrl: string,
    readonly timeout: number,
    readonly attempts: number,
    readonly patience: number,
  ) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
  }

  /** The last reply, whatever its status; throws NoResponse. */
  async send(request: Request): Promise<Reply> {
    const ends = performance.now() + this.patience * 1000;
    for (let attempt = 1; ; attempt++) {
      const found = await this.#try(request);
      const wait = waitBefore(found, attempt, request.repeatable);
      if (wait === null || attempt >= this.attempts || performance.now() + wait * 1000 > ends) {
        if (found instanceof Reply) return found;
        throw new NoResponse(`${request.method} ${request.path}: ${found.message}`, { cause: found });
      }
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }

  async #try(request: Request): Promise<Reply | Error> {
    try {
      const response = await fetch(this.#baseUrl + request.path, {
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        redirect: "manual",
        signal: AbortSignal.timeout((this.timeout + (request.extraTime ?? 0)) * 1000),
      });
      return new Reply(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** Seconds until the next attempt; null where it is of no use. */
function waitBefore(found: Reply | Error, attempt: number, repeatable: boolean): number | null {
  const backoff = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  if (!(found instanceof Reply)) return repeatable ? backoff : null;
  const passing =
    found.status === 429 ||
    (repeatable && FAULTS.includes(found.status)) ||
    (found.status === 409 && found.retryAfter !== null); // a request with the same key is being processed
  if (!passing) return null;
  return found.retryAfter === null ? backoff : found.retryAfter + backoff / 4;
}

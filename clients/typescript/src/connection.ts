/** Requests with credentials, whose replies become values of the generated types. */

import type { Credentials } from "./credentials.js";
import type { Reply, Transport } from "./transport.js";

export type Parameters = Record<string, string | number | boolean | readonly string[] | null | undefined>;

export interface Options {
  accept?: string;
  idempotencyKey?: string;
  repeatable?: boolean;
  extraTime?: number;
}

export class Connection {
  constructor(
    readonly transport: Transport,
    readonly credentials: Credentials,
  ) {}

  /** A successful reply; throws ApiError and NoResponse. A rejected token is renewed once. */
  async request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Reply> {
    const headers: Record<string, string> = { Accept: options.accept ?? "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (options.idempotencyKey !== undefined) headers["Idempotency-Key"] = options.idempotencyKey;
    const attempt = async () =>
      this.transport.send({
        method,
        path,
        headers: { ...headers, ...(await this.credentials.headers(this.transport)) },
        repeatable: options.repeatable ?? true,
        extraTime: options.extraTime ?? 0,
        ...(body === undefined ? {} : { body: JSON.stringify(body, finite) }),
      });
    let reply = await attempt();
    if (reply.status === 401 && this.credentials.renew()) reply = await attempt();
    return reply.checked();
  }

  /** What the service makes of a body. */
  async send<Made>(method: string, path: string, body: unknown, options?: Options): Promise<Made> {
    return (await this.request(method, path, body, options)).made<Made>();
  }

  async get<Made>(path: string, parameters: Parameters = {}, extraTime = 0): Promise<Made> {
    return (await this.read<Made>(path, parameters, extraTime))[0];
  }

  /** A value and the reply that it came with. */
  async read<Made>(path: string, parameters: Parameters = {}, extraTime = 0): Promise<[Made, Reply]> {
    const reply = await this.request("GET", path + query(parameters), undefined, { extraTime });
    return [reply.made<Made>(), reply];
  }
}

/** `NaN` would become null, and a price limit would be gone. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new RangeError(`${name}: ${value} is no number in JSON`);
  return value;
}

/** The service splits lists at commas before it decodes their values. */
function query(parameters: Parameters): string {
  const parts = Object.entries(parameters).flatMap(([name, value]) => {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return [];
    const text = Array.isArray(value) ? value.map(encodeURIComponent).join(",") : encodeURIComponent(String(value));
    return [`${encodeURIComponent(name)}=${text}`];
  });
  return parts.length > 0 ? `?${parts.join("&")}` : "";
}

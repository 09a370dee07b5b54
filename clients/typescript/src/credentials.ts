/** How a client proves for whom it acts: an API key, or a customer's consent to an application. */

import { ConsentEnded } from "./errors.js";
import type { AccessToken, ConsentToken, OAuthError } from "./schema.js";
import type { Transport } from "./transport.js";

const EARLY = 60; // seconds before its end in which a token is not used any more

/** What authenticates requests. */
export interface Credentials {
  /** The headers of a request, which may need a request of its own. */
  headers(transport: Transport): Promise<Record<string, string>>;
  /** Forget what was rejected; whether another attempt is of use. */
  renew(): boolean;
}

/** An API key. */
export class Key implements Credentials {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  async headers(): Promise<Record<string, string>> {
    return { "X-Api-Key": this.#key };
  }

  renew(): boolean {
    return false;
  }
}

/**
 * A customer's consent to an application, kept alive by its refresh token.
 *
 * Each refresh token is good once. `save` gets the next one and must store it before it returns: with the old one, a
 * restarted program would end the consent.
 */
export class Consent implements Credentials {
  readonly #basic: string;
  readonly #save: (refreshToken: string) => unknown;
  #refreshToken: string;
  #token: Promise<string> | undefined;
  #ends = 0;

  constructor(clientId: string, clientSecret: string, refreshToken: string, save: (refreshToken: string) => unknown) {
    this.#basic = `Basic ${btoa(`${form(clientId)}:${form(clientSecret)}`)}`;
    this.#refreshToken = refreshToken;
    this.#save = save;
  }

  async headers(transport: Transport): Promise<Record<string, string>> {
    if (this.#token === undefined || performance.now() >= this.#ends - EARLY * 1000) {
      this.#ends = Number.POSITIVE_INFINITY; // requests that come meanwhile wait for the same token
      this.#token = this.#refresh(transport).catch((error: unknown) => {
        this.#token = undefined;
        throw error;
      });
    }
    return { Authorization: `Bearer ${await this.#token}` };
  }

  renew(): boolean {
    if (this.#ends !== Number.POSITIVE_INFINITY) this.#ends = 0;
    return true;
  }

  async #refresh(transport: Transport): Promise<string> {
    const consent = await this.#post<ConsentToken>(transport, "/auth/token", {
      grant_type: "refresh_token",
      refresh_token: this.#refreshToken,
    });
    this.#refreshToken = consent.refresh_token; // also if it cannot be stored: the next request gets and stores another
    await this.#save(consent.refresh_token);
    const asked = performance.now();
    const token = await this.#post<AccessToken>(transport, "/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: consent.access_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    });
    this.#ends = asked + token.expires_in * 1000;
    return token.access_token;
  }

  /** Posts a form, again after a lost response: if the token was used up, the consent is lost either way. */
  async #post<Made>(transport: Transport, path: string, fields: Record<string, string>): Promise<Made> {
    const headers = { Authorization: this.#basic, "Content-Type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams(fields).toString();
    const reply = await transport.send({ method: "POST", path, headers, body, repeatable: true });
    if (errorIn(reply.text) === "invalid_grant") throw new ConsentEnded(reply.text);
    return reply.checked().made<Made>();
  }
}

/** The error of OAuth, if there is one. */
function errorIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as OAuthError).error;
  } catch {
    return undefined; // no JSON
  }
}

function form(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice(2);
}

/** Webhooks: whether a request is from the service, and its event (Standard Webhooks, symmetric signatures). */

import { NotGenuine } from "./errors.js";
import type { Event } from "./schema.js";

const TOLERANCE = 300; // seconds
const PREFIX = "whsec_";
const SHORTEST_KEY = 16; // bytes

/**
 * The event of a webhook's request, with the body exactly as received; throws NotGenuine.
 *
 * `secret` begins with `whsec_`; throws TypeError for another one. The case of the headers' names does not matter.
 */
export async function verifiedEvent(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string | Uint8Array,
): Promise<Event> {
  const secretKey = keyOf(secret);
  const given = headers instanceof Headers ? headers : plain(headers);
  const moment = given.get("webhook-timestamp") ?? "";
  if (!/^\d+$/.test(moment) || Math.abs(Date.now() / 1000 - Number(moment)) > TOLERANCE) {
    throw new NotGenuine("the time is missing, or more than five minutes away");
  }
  const encoder = new TextEncoder();
  const content = typeof body === "string" ? encoder.encode(body) : body;
  const head = encoder.encode(`${given.get("webhook-id") ?? ""}.${moment}.`);
  const signed = new Uint8Array(head.length + content.length);
  signed.set(head);
  signed.set(content, head.length);
  const key = await crypto.subtle.importKey("raw", secretKey, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const signature of (given.get("webhook-signature") ?? "").split(" ")) {
    if (!signature.startsWith("v1,")) continue;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = bytesOf(signature.slice(3));
    } catch {
      continue;
    }
    if (await crypto.subtle.verify("HMAC", key, bytes, signed)) {
      return eventOf(new TextDecoder().decode(content));
    }
  }
  throw new NotGenuine("no signature is right");
}

/** The key of a secret. Anybody can sign with that of an empty one, such as of a variable that is not set. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  let key = new Uint8Array();
  try {
    key = bytesOf(secret.slice(PREFIX.length));
  } catch {
    // no base64
  }
  if (!secret.startsWith(PREFIX) || key.length < SHORTEST_KEY) {
    throw new TypeError(`the secret is not one of a webhook: it begins with ${PREFIX}`);
  }
  return key;
}

function eventOf(text: string): Event {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && "type" in found && "data" in found) return found as Event;
  } catch {
    // no JSON
  }
  throw new NotGenuine("the body is no event");
}

function plain(headers: Record<string, string | string[] | undefined>): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") found.set(name.toLowerCase(), value);
  }
  return found;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** Webhooks: whether a request is from the service, and its event (Standard Webhooks, symmetric signatures). */

import { NotGenuine } from "./errors.js";
import type { Event } from "./schema.js";

const TOLERANCE = 300; // seconds

/**
 * The event of a webhook's request, with the body exactly as received; throws NotGenuine.
 *
 * `secret` begins with `whsec_`. The case of the headers' names does not matter.
 */
export async function verifiedEvent(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string | Uint8Array,
): Promise<Event> {
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
  const key = await crypto.subtle.importKey(
    "raw",
    bytesOf(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  for (const signature of (given.get("webhook-signature") ?? "").split(" ")) {
    if (!signature.startsWith("v1,")) continue;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = bytesOf(signature.slice(3));
    } catch {
      continue;
    }
    if (await crypto.subtle.verify("HMAC", key, bytes, signed)) {
      return JSON.parse(new TextDecoder().decode(content)) as Event;
    }
  }
  throw new NotGenuine("no signature is right");
}

function plain(headers: Record<string, string | string[] | undefined>): Headers {
  const found = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase().startsWith("webhook-") && typeof value === "string") found.set(name, value);
  }
  return found;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

// Prints the address for the customer's browser, reads the address to which it returns, and goes on to the API.

import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { AuthorizationCode } from "simple-oauth2";

const { BASE, CLIENT_ID, CLIENT_SECRET, CALLBACK } = process.env;
const client = new AuthorizationCode({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: {
    tokenHost: BASE, tokenPath: "/auth/token", authorizePath: "/auth/authorize", revokePath: "/auth/revoke",
  },
});

const verifier = randomBytes(32).toString("base64url");
console.log(client.authorizeURL({
  redirect_uri: CALLBACK,
  state: "some state",
  code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  code_challenge_method: "S256",
}));
const [returned] = await once(createInterface(process.stdin), "line");

const code = new URL(returned).searchParams.get("code");
const consent = await client.getToken({ code, redirect_uri: CALLBACK, code_verifier: verifier });
const refreshed = await consent.refresh();

// It knows no exchange of tokens.
const response = await fetch(`${BASE}/oauth/token`, {
  method: "POST",
  headers: { Authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
  body: new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: refreshed.token.access_token,
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  }),
});
const access = await response.json();
const customer = await fetch(`${BASE}/customer`, { headers: { Authorization: `Bearer ${access.access_token}` } });
const { email_address } = await customer.json();

await refreshed.revoke("refresh_token");
console.log(JSON.stringify({
  types: [consent.token.token_type, refreshed.token.token_type, access.token_type].map((type) => type.toLowerCase()),
  renewed: refreshed.token.refresh_token !== consent.token.refresh_token,
  customer: email_address,
  token: access.access_token,
}));

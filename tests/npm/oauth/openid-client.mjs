// Prints the address for the customer's browser, reads the address to which it returns, and goes on to the API.

import { once } from "node:events";
import { createInterface } from "node:readline";
import * as client from "openid-client";

const { BASE, CLIENT_ID, CLIENT_SECRET, CALLBACK } = process.env;
const options = { execute: [client.allowInsecureRequests] };
const server = new URL(`${BASE}/auth`);
const config = await client.discovery(server, CLIENT_ID, CLIENT_SECRET, client.ClientSecretBasic(CLIENT_SECRET), options);

const verifier = client.randomPKCECodeVerifier(), state = client.randomState();
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: CALLBACK,
  state,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
});
console.log(address.href);
const [returned] = await once(createInterface(process.stdin), "line");

const consent = await client.authorizationCodeGrant(config, new URL(returned), {
  pkceCodeVerifier: verifier, expectedState: state,
});
const refreshed = await client.refreshTokenGrant(config, consent.refresh_token);

// The exchange has an endpoint of its own.
const metadata = { ...config.serverMetadata(), token_endpoint: `${BASE}/oauth/token` };
const api = new client.Configuration(metadata, CLIENT_ID, CLIENT_SECRET, client.ClientSecretBasic(CLIENT_SECRET));
client.allowInsecureRequests(api);
const access = await client.genericGrantRequest(api, "urn:ietf:params:oauth:grant-type:token-exchange", {
  subject_token: refreshed.access_token,
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
});
const customer = async () => client.fetchProtectedResource(api, access.access_token, new URL(`${BASE}/customer`), "GET");
const { email_address } = await (await customer()).json();

await client.tokenRevocation(config, refreshed.refresh_token);
console.log(JSON.stringify({
  types: [consent.token_type, refreshed.token_type, access.token_type],
  renewed: refreshed.refresh_token !== consent.refresh_token,
  customer: email_address,
  token: access.access_token,
}));

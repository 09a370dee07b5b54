// From an address alone to a confirmed order: a person allows it elsewhere, and says where the browser was sent.
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const { BASE, ORDER } = process.env;
const kept = {};
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const authProvider = {
  redirectUrl: "http://127.0.0.1:33418/callback",
  clientMetadata: { client_name: "TypeScript", redirect_uris: ["http://127.0.0.1:33418/callback"] },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (address) => console.log(address.href),
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => { kept.discovery = state; },
  discoveryState: () => kept.discovery,
};
const transport = () => new StreamableHTTPClientTransport(new URL(`${BASE}/mcp`), { authProvider });
let client = new Client({ name: "test", version: "1.0" });
const first = transport();
try {
  await client.connect(first);
  throw new Error("connected without a token");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const { searchParams } = new URL((await lines.next()).value);
if (searchParams.get("state") !== "a state") throw new Error("another state");
await first.finishAuth(searchParams);
client = new Client({ name: "test", version: "1.0" });
await client.connect(transport());
const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
const priced = await call("price_order", JSON.parse(ORDER));
const option = priced.shipping_options[0];
const shown = { confirmation_code: priced.confirmation_code, shipping_method: option.id };
const confirmed = await call("confirm_order", { ...shown, total: option.total_gross });
console.log(JSON.stringify({ confirmed, scope: kept.tokens.scope, refreshable: "refresh_token" in kept.tokens }));
await client.close();
process.exit(0);

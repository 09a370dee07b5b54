// Searches, prices and confirms with the official client, and prints what it got.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { BASE, KEY, ORDER } = process.env;
const client = new Client({ name: "test", version: "1.0" });
const headers = { "X-Api-Key": KEY };
await client.connect(new StreamableHTTPClientTransport(new URL(`${BASE}/mcp`), { requestInit: { headers } }));
const { tools } = await client.listTools();
const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
const found = await call("search_products", { query: "phone", limit: 1 });
const priced = await call("price_order", JSON.parse(ORDER));
const option = priced.shipping_options[0];
const shown = { confirmation_code: priced.confirmation_code, shipping_method: option.id };
const rejected = await call("confirm_order", { ...shown, total: option.total_gross - 1 });
const confirmed = await call("confirm_order", { ...shown, total: option.total_gross });
const printed = { tools: tools.length, sku: found.products[0].sku, rejected: rejected.code, confirmed };
console.log(JSON.stringify(printed));
await client.close();

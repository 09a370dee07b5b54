export { Tradecounter, type TradecounterOptions } from "./client.js";
export { Consent, type Credentials, Key } from "./credentials.js";
export * from "./errors.js";
export type * as models from "./schema.js";
export type { Batch } from "./sync.js";
export { verifiedEvent } from "./webhooks.js";

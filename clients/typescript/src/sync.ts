/** The change feed as an iterator of batches, which survives restarts because each batch has its cursor. */

import type { Connection } from "./connection.js";
import { CursorExpired, InvalidResponse } from "./errors.js";
import type { CatalogueChange, Product } from "./schema.js";
import type { Reply } from "./transport.js";

/**
 * Changes to apply to a copy, and the cursor to store with them in one transaction.
 *
 * Delete `removed` first: a SKU that is spelled in other case now is also among the products.
 * `whole`: the products are the whole catalogue, so that the copy loses all others. A product may be as the copy has
 * it, and there may be no change at all.
 */
export interface Batch {
  whole: boolean;
  /** New ones and changed ones. */
  products: Product[];
  /** SKUs that the account cannot buy any more. */
  removed: string[];
  cursor: string;
}

/**
 * Batches from a cursor on, endless with `wait`. An expired cursor begins again with the whole catalogue, and so does
 * an empty one: the service would begin with what changes from now on.
 */
export async function* batches(api: Connection, cursor: string | null, wait?: number): AsyncGenerator<Batch> {
  let after = cursor;
  for (;;) {
    let batch: Batch;
    if (!after) {
      batch = await whole(api);
    } else {
      try {
        batch = await changes(api, after, wait);
      } catch (error) {
        if (!(error instanceof CursorExpired)) throw error;
        after = null;
        continue;
      }
    }
    yield batch;
    if (!batch.whole && wait === undefined && batch.products.length + batch.removed.length === 0) return;
    after = batch.cursor;
  }
}

/** In one response: products move between the pages of a catalogue that changes. */
async function whole(api: Connection): Promise<Batch> {
  const [products, reply] = await api.read<Product[]>("/product", { limit: 0 });
  return { whole: true, products, removed: [], cursor: cursorOf(reply) };
}

async function changes(api: Connection, after: string, wait?: number): Promise<Batch> {
  const found = await api.read<CatalogueChange[]>("/catalogue/change", { after, limit: 500, wait }, wait ?? 0);
  const products = found[0].flatMap((change) => (change.product === null ? [] : [change.product]));
  const removed = found[0].filter((change) => change.product === null).map((change) => change.sku);
  return { whole: false, products, removed, cursor: cursorOf(found[1]) };
}

function cursorOf(reply: Reply): string {
  const found = reply.headers.get("x-cursor");
  if (!found) throw new InvalidResponse("the service sends no X-Cursor: it has no change feed");
  return found;
}

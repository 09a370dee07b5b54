// Saves the latest invoice in a file.

import { writeFileSync } from "node:fs";
import { Tradecounter } from "tradecounter-client";

const shop = new Tradecounter(process.env.BASE, process.env.KEY);
for await (const invoice of shop.invoices()) {
  writeFileSync(process.argv[2], await shop.invoiceFile(invoice.number));
  break;
}

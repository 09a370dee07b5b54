// Prints what Spectral and Redocly find in interface documents, as a list for each in JSON.

import { readFile } from "node:fs/promises";
import { createConfig, lint } from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";

const linter = new spectral.Spectral();
linter.setRuleset(new spectral.Ruleset({ extends: [rulesets.oas] }));
const config = await createConfig({ extends: ["recommended"] });

const found = [];
for (const path of process.argv.slice(2)) {
  const spectralResults = await linter.run(await readFile(path, "utf8"));
  const redoclyProblems = await lint({ ref: path, config });
  found.push([
    ...spectralResults.map((result) => `Spectral ${result.code} ${result.path.join(".")}: ${result.message}`),
    ...redoclyProblems.map((problem) => `Redocly ${problem.ruleId} ${problem.location[0]?.pointer}: ${problem.message}`),
  ]);
}
console.log(JSON.stringify(found));

// Reads an AsyncAPI document as the AsyncAPI tools do, and fails on every
// diagnostic but the advice to use the latest version of AsyncAPI.
const { Parser } = require("@asyncapi/parser");
const { readFileSync } = require("node:fs");

const path = process.argv[2];
new Parser().parse(readFileSync(path, "utf8"), { source: path }).then(({ document, diagnostics }) => {
  const wrong = diagnostics.filter((d) => d.code !== "asyncapi-latest-version");
  for (const d of wrong) console.error(`${d.path.join(".")}: ${d.message} (${d.code})`);
  if (wrong.length > 0 || !document) process.exit(1);
  const messages = document.components().messages().all().length;
  console.log(`asyncapi: ${document.channels().all().length} channels and ${messages} messages`);
});

// Prints what Spectral found in the contract and excuses.yaml does not excuse, and the
// excuses that excuse nothing. Ends with 1 if there is either.
//
// usage: lint.js FINDINGS EXCUSES, both files
const fs = require('fs');
const yaml = require('@stoplight/yaml');

const [findings, excuses] = [JSON.parse(fs.readFileSync(process.argv[2])), yaml.parse(fs.readFileSync(process.argv[3], 'utf8'))];

// Excuses by rule and place. The place "*" is the whole document.
const unused = new Map();
for (const {rule, reason, at} of excuses) {
  if (!reason) throw new Error(`an excuse of ${rule} gives no reason`);
  for (const place of at) unused.set(`${rule} ${place}`, true);
}

let failed = false;
let excused = 0;
for (const f of findings) {
  const place = f.path.join('.');
  const by = [place, '*'].map(at => `${f.code} ${at}`).find(key => unused.has(key));
  if (by) {
    unused.set(by, false);
    excused++;
    continue;
  }
  failed = true;
  console.error(`${f.code} ${place}: ${f.message}`);
}
for (const [key, is] of unused) {
  if (!is) continue;
  failed = true;
  console.error(`excuses nothing: ${key}`);
}
console.log(`${findings.length} findings, ${excused} excused in excuses.yaml`);
process.exit(failed ? 1 : 0);

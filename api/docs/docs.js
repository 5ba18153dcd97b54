// Renders /openapi.json: operations by tag, their parameters, schemas and
// examples, and a form that sends a request. No library, no network but ours.

const methods = ["get", "post", "put", "patch", "delete"];
const token = document.querySelector("#token");
const main = document.querySelector("main");
const contents = document.querySelector("#contents");

// h makes an element: h("a", { href: "#x" }, "text", child, [children]).
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// inline turns `code` and **bold** into elements.
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return h("strong", {}, part.slice(2, -2));
    return part;
  });
}

// prose turns text into paragraphs.
function prose(text = "") {
  return text.trim().split(/\n\s*\n/).filter(Boolean).map((paragraph) => h("p", {}, inline(paragraph)));
}

const response = await fetch("/openapi.json");
const spec = await response.json();

// resolved follows $ref; what stands beside it wins.
function resolved(object) {
  if (!object?.$ref) return object;
  const { $ref, ...beside } = object;
  const target = $ref.slice(2).split("/").reduce((at, step) => at[step.replaceAll("~1", "/")], spec);
  return { ...resolved(target), ...beside };
}

const json = (value) => JSON.stringify(value, null, 2);

function typeOf(schema) {
  const types = [schema.type ?? "any"].flat();
  if (types.includes("array")) return `array of ${typeOf(resolved(schema.items ?? {}))}`;
  return types.join(" or ") + (schema.format ? ` (${schema.format})` : "");
}

function limits(schema) {
  const between = (low, high, unit) =>
    low !== undefined && high !== undefined ? `${low} to ${high}${unit}`
      : low !== undefined ? `at least ${low}${unit}`
        : high !== undefined ? `at most ${high}${unit}` : "";
  return [
    schema.enum && `one of ${schema.enum.map(String).join(", ")}`,
    between(schema.minimum, schema.maximum, ""),
    schema["x-netsim-form"] ?? (between(schema.minLength, schema.maxLength, " characters") || schema.pattern),
    between(schema.minItems, schema.maxItems, " items"),
    schema.default !== undefined && `default ${schema.default}`,
  ].filter(Boolean).join("; ");
}

// members lists an object's members, or those of an array's items.
function members(schema, depth = 0) {
  const of = schema.type === "array" ? resolved(schema.items ?? {}) : schema;
  if (of.type === "array") return members(of, depth);
  const names = Object.entries(of.properties ?? {});
  const other = typeof of.additionalProperties === "object" ? [["any name", of.additionalProperties]] : [];
  if (names.length + other.length === 0 || depth > 8) return null;
  return h("ul", { class: "schema" }, [...names, ...other].map(([name, reference]) => {
    const member = resolved(reference);
    const line = [
      h("code", {}, name), " ", h("span", { class: "quiet" }, typeOf(member)), " ",
      of.required?.includes(name) ? h("span", { class: "required" }, "required") : "",
    ];
    const rest = [limits(member) ? h("p", {}, limits(member)) : "", prose(member.description)];
    const inner = members(member, depth + 1);
    return h("li", {}, inner ? h("details", { open: depth < 1 }, h("summary", {}, line), rest, inner) : [line, rest]);
  }));
}

function examples(media) {
  if (media.example !== undefined) return [["example", media.example]];
  return Object.entries(media.examples ?? {}).map(([name, example]) => {
    const { summary, value } = resolved(example);
    return [summary ?? name, value];
  });
}

function body(media) {
  const schema = resolved(media.schema);
  return [
    prose(schema.description),
    members(schema),
    examples(media).map(([name, value]) => h("details", {}, h("summary", { class: "quiet" }, `Example: ${name}`), h("pre", {}, json(value)))),
  ];
}

function parameterTable(parameters) {
  return h("table", {}, parameters.map((p) => {
    const schema = resolved(p.schema);
    return h("tr", {},
      h("td", {}, h("code", {}, p.name), " ", p.required ? h("span", { class: "required" }, "required") : ""),
      h("td", {}, h("p", { class: "quiet" }, [`in ${p.in}`, typeOf(schema), limits(schema)].filter(Boolean).join("; ")), prose(p.description ?? schema.description)));
  }));
}

function responses(operation) {
  return Object.entries(operation.responses).map(([status, reference]) => {
    const answer = resolved(reference);
    const headers = Object.entries(answer.headers ?? {});
    return h("details", { class: "response" },
      h("summary", {}, h("strong", {}, status), " ", inline(answer.description.trim())),
      headers.map(([name, header]) => h("p", {}, h("code", {}, name), " ", h("span", { class: "quiet" }, inline(resolved(header).description ?? "")))),
      Object.entries(answer.content ?? {}).map(([type, media]) => [h("p", { class: "quiet" }, type), body(media)]));
  });
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

// request reads the form into the URL, headers and body of a request.
function request(method, path, form) {
  const query = new URLSearchParams();
  const headers = {};
  for (const input of form.querySelectorAll("input[data-in]")) {
    if (input.value === "") continue;
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    if (input.dataset.in === "query") query.append(input.name, input.value);
    if (input.dataset.in === "header") headers[input.name] = input.value;
  }
  if (token.value) headers.Authorization = `Bearer ${token.value.trim()}`;
  const sent = form.querySelector("textarea")?.value;
  if (sent) headers["Content-Type"] = "application/json";
  const url = new URL(path + (query.size ? `?${query}` : ""), location.origin).href;
  return { url, options: { method: method.toUpperCase(), headers, body: sent || undefined } };
}

function curl({ url, options }) {
  const shown = { ...options.headers };
  if (shown.Authorization) shown.Authorization = "Bearer $TOKEN";
  return [
    `curl -i -X ${options.method} ${quoted(url)}`,
    ...Object.entries(shown).map(([name, value]) => name === "Authorization" ? `-H "${name}: ${value}"` : `-H ${quoted(`${name}: ${value}`)}`),
    options.body ? `-d ${quoted(options.body)}` : "",
  ].filter(Boolean).join(" \\\n  ");
}

async function send(method, path, form, output) {
  const prepared = request(method, path, form);
  const started = performance.now();
  output.replaceChildren(h("pre", {}, curl(prepared)));
  try {
    const answer = await fetch(prepared.url, prepared.options);
    const text = await answer.text();
    const took = Math.round(performance.now() - started);
    let shown = text;
    try { shown = json(JSON.parse(text)); } catch { /* not JSON: shown as it is */ }
    const headers = ["etag", "location", "retry-after"].filter((name) => answer.headers.has(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
    output.append(h("p", {}, h("strong", {}, `${answer.status} ${answer.statusText}`), h("span", { class: "quiet" }, ` in ${took} ms`)), h("pre", {}, [...headers, shown || "(no body)"].join("\n")));
  } catch (problem) {
    output.append(h("p", { class: "required" }, `not sent: ${problem.message}`));
  }
}

function tryIt(method, path, operation, parameters) {
  const media = resolved(operation.requestBody)?.content?.["application/json"];
  const output = h("div", { "aria-live": "polite" });
  const form = h("form", {
    class: "try",
    submit: (event) => { event.preventDefault(); send(method, path, form, output); },
  },
  parameters.map((p) => h("label", {}, h("code", {}, p.name),
    h("input", { class: "code", name: p.name, "data-in": p.in, required: p.required ?? false, placeholder: p.example ?? resolved(p.schema).default ?? "", autocomplete: "off" }))),
  media ? h("textarea", { "aria-label": "Request body", spellcheck: "false" }, json(examples(media)[0]?.[1] ?? {})) : "",
  h("button", {}, `Send ${method.toUpperCase()}`), output);
  return h("details", {}, h("summary", {}, h("strong", {}, "Try it")), form);
}

function article(path, method, operation, shared) {
  const parameters = [...shared, ...(operation.parameters ?? [])].map(resolved);
  const access = operation["x-netsim-access"] ?? {};
  const media = resolved(operation.requestBody)?.content?.["application/json"];
  return h("article", { id: operation.operationId },
    h("header", {},
      h("h3", {}, h("span", { class: `method ${method}` }, method.toUpperCase()), " ", h("code", {}, path)),
      h("span", {}, operation.summary, " "),
      h("span", { class: "badge" }, access.token === "service" ? "service token" : "any token"), " ",
      access.flag ? h("span", { class: "badge" }, `flag ${access.flag}`) : ""),
    h("div", {},
      prose(operation.description),
      tryIt(method, path, operation, parameters),
      parameters.length ? [h("h4", {}, "Parameters"), parameterTable(parameters)] : "",
      media ? [h("h4", {}, "Request body"), body(media)] : "",
      h("h4", {}, "Responses"), responses(operation)));
}

document.querySelector("#version").textContent = spec.info.version;
main.replaceChildren(h("section", {}, prose(spec.info.description)));
for (const tag of spec.tags) {
  const section = h("section", { class: "tag" }, h("h2", {}, tag.name), prose(tag.description));
  const links = h("div", {}, h("h2", {}, tag.name));
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of methods.filter((name) => item[name]?.tags.includes(tag.name))) {
      const operation = item[method];
      section.append(article(path, method, operation, item.parameters ?? []));
      links.append(h("a", { href: `#${operation.operationId}`, title: path }, h("span", { class: `method ${method}` }, method.toUpperCase()), " ", operation.summary));
    }
  }
  main.append(section);
  contents.append(links);
}

document.querySelector("#filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const link of contents.querySelectorAll("a")) {
    link.hidden = !`${link.textContent} ${link.title} ${link.hash}`.toLowerCase().includes(wanted);
  }
});
history.scrollRestoration = "manual"; // the page is built after the browser has restored it
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();

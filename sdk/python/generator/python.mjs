// Writes the models and the operations of the Python SDK from the contract, as Redocly's
// client generator has read it. README.md says why this is not the built-in generator.

import { dirname, join } from 'node:path';

const HEADER = '# Written by sdk/python/generate from api/openapi.yaml. Do not edit.\n';
const KEYWORDS = new Set(['from', 'class', 'global', 'import', 'in', 'is', 'lambda', 'pass', 'return', 'def', 'async', 'await', 'with']);

// Query parameters without an argument: the header or the method that replaces each.
const REPLACED = new Set(['cursor', 'lastEventId', 'format']);
const HEADERS = new Set(['Idempotency-Key', 'If-Match', 'If-None-Match', 'Consistency-Token']);

// Operations that the hand-written part has: the streams, and the form of a small upload.
const BY_HAND = new Set(['FollowSimulation', 'FollowStudy', 'FollowEvents', 'UploadTraceset']);
// Operations whose success may have no body.
const MAYBE_EMPTY = new Set(['TerminateSimulation']);

// The schemas of refusals, which are exceptions here.
const REFUSALS = /^(Error(_2|Response)?|Problem)$/;

// The patterns of decimals.
const DECIMAL = /^\^-\?\(0\||^\^\[0-9\](\+|\{1,12\})\(\\\.\[0-9\]/;

function snake(name) {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2');
  const plain = words.replace(/[^A-Za-z0-9]+/g, '_').toLowerCase();
  return KEYWORDS.has(plain) ? `${plain}_` : plain;
}
const pascal = (name) => name.charAt(0).toUpperCase() + name.slice(1);
const string = (value) => JSON.stringify(value);

function doc(text, indent) {
  if (!text) return [];
  const lines = text.trim().replace(/\\/g, '\\\\').replace(/"""/g, "'''").split('\n').map((l) => l.trim());
  if (lines.length === 1) return [`${indent}"""${lines[0].endsWith('"') ? `${lines[0]} ` : lines[0]}"""`];
  return [`${indent}"""${lines[0]}`, ...lines.slice(1).map((l) => (l ? indent + l : '')), `${indent}"""`];
}

// A Python writes the models that it meets, with nested objects under the names of their parents.
class Python {
  constructor(model) {
    this.named = new Map(model.schemas.map((s) => [s.name, s.schema]));
    this.classes = [];
    this.pending = [];
  }

  // The annotation of a schema. An object without a name gets the name given here.
  type(schema, name, prefix = '') {
    switch (schema.kind) {
      case 'scalar':
        if (schema.scalar === 'string') {
          const { format, pattern } = schema.metadata ?? {};
          if (format === 'date-time') return 'dt.datetime';
          if (format === 'date') return 'dt.date';
          return pattern && DECIMAL.test(pattern) ? 'Decimal' : 'str';
        }
        return { integer: 'int', number: 'float', boolean: 'bool' }[schema.scalar];
      case 'literal':
        return `Literal[${string(schema.value)}] | str`;
      case 'enum':
        // An unknown value is no error: the union with str says so.
        return `Literal[${schema.values.map(string).join(', ')}] | ${schema.scalar === 'string' ? 'str' : 'int'}`;
      case 'array':
        return `list[${this.type(schema.items, name, prefix)}]`;
      case 'record':
        return `dict[str, ${this.type(schema.value, name, prefix)}]`;
      case 'omit':
        return this.type({ kind: 'ref', name: schema.base }, name, prefix);
      case 'ref': {
        const target = this.named.get(schema.name);
        if (target.kind === 'object') return prefix + schema.name;
        if (target.kind === 'union' && target.members.some((m) => m.kind === 'object')) return `${prefix}${schema.name} | None`;
        return this.type(target, schema.name, prefix);
      }
      case 'union': {
        const some = schema.members.filter((m) => m.kind !== 'null').map((m) => this.type(m, name, prefix));
        return [...new Set(some), ...(some.length < schema.members.length ? ['None'] : [])].join(' | ');
      }
      case 'object':
        if (schema.properties.length === 0) return 'dict[str, Any]';
        this.pending.push([name, schema]);
        return prefix + name;
      default:
        return 'Any';
    }
  }

  class(name, schema, description) {
    const lines = ['@dataclass(kw_only=True)', `class ${name}(Model):`, ...doc(description, '    ')];
    const wire = [];
    // What a request may have and the service ignores is no member.
    const members = schema.properties.filter((p) => !(p.readOnly && p.schema.kind === 'unknown'));
    if (description && members.length) lines.push('');
    for (const p of members) {
      const member = snake(p.name);
      if (member !== p.name) wire.push(`${string(member)}: ${string(p.name)}`);
      const type = this.type(p.schema, name + pascal(p.name));
      const optional = type === 'Any' || type.endsWith('| None') ? type : `${type} | None`;
      lines.push(`    ${member}: ${p.required ? type : `${optional} = None`}`);
      lines.push(...doc(p.description ?? (p.schema.kind === 'ref' ? undefined : p.schema.description), '    '));
    }
    if (wire.length) lines.push('', `    _wire: ClassVar[Mapping[str, str]] = {${wire.join(', ')}}`);
    if (!members.length && !description) lines.push('    pass');
    this.classes.push(lines.join('\n'));
    while (this.pending.length) this.class(...this.pending.shift());
  }

  models() {
    for (const [name, schema] of this.named) {
      if (REFUSALS.test(name)) continue;
      const object = schema.kind === 'union' ? schema.members.find((m) => m.kind === 'object') : schema;
      if (object?.kind === 'object' && object.properties.length) this.class(name, object, schema.description);
    }
    return `${HEADER}"""The resources of the contract."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Literal

from .._codec import Model


${this.classes.join('\n\n\n')}
`;
  }

  operation(op) {
    const id = op.specName ?? op.name;
    const unknown = op.headerParams.find((h) => !HEADERS.has(h.name));
    if (unknown) throw new Error(`${id}: the header ${unknown.name} has no argument in the SDK`);
    const has = (header) => op.headerParams.some((h) => h.name === header);
    const type = (schema, name) => this.type(schema, name, 'models.');

    const json = op.successResponses.find((r) => r.contentType === 'application/json');
    const page = json?.schema.kind === 'ref' && this.named.get(json.schema.name);
    const lists = page && page.properties?.some((p) => p.name === 'pagination') ? page.properties.filter((p) => p.schema.kind === 'array') : [];
    const query = op.queryParams.filter((q) => !REPLACED.has(q.name));

    const args = ['self', ...op.pathParams.map((p) => `${snake(p.name)}: ${type(p.schema)}`)];
    if (op.requestBody) args.push(`body: ${type(op.requestBody.schema)} | JSON`);
    const named = [...query.filter((q) => q.required), ...query.filter((q) => !q.required)].map((q) =>
      q.required ? `${snake(q.name)}: ${type(q.schema)}` : `${snake(q.name)}: ${type(q.schema)} | None = None`);
    if (has('If-Match')) named.push('if_match: Version | None = None');
    if (has('Idempotency-Key')) named.push('idempotency_key: str | None = None');
    if (named.length) args.push('*', ...named);

    const filled = op.path.replace(/\{([^}]+)\}/g, (_, name) => `{segment(${snake(name)})}`);
    const path = filled === op.path ? string(op.path) : `f${string(filled)}`;
    const fields = query.length ? [`query={${query.map((q) => `${string(q.name)}: ${snake(q.name)}`).join(', ')}}`] : [];
    const body = op.requestBody ? ['body=body'] : [];

    let returns, call;
    if (lists.length === 1) {
      const item = type(lists[0].schema.items, page.name);
      returns = `Paged[${item}, models.${json.schema.name}]`;
      call = `self.paged(${[`models.${json.schema.name}`, string(snake(lists[0].name)), path, ...fields].join(', ')})`;
    } else if (json) {
      returns = type(json.schema, `${id}Response`);
      const verb = has('Idempotency-Key') ? 'write' : 'read';
      const options = verb === 'write' ? ['key=idempotency_key', ...(has('If-Match') ? ['if_match=if_match'] : [])] : [];
      call = `self.${verb}(${[returns, string(op.method.toUpperCase()), path, ...fields, ...body, ...options].join(', ')})`;
      if (MAYBE_EMPTY.has(id)) returns += ' | None';
    } else if (op.method !== 'get') {
      returns = 'None';
      const options = ['key=idempotency_key', ...(has('If-Match') ? ['if_match=if_match'] : [])];
      call = `self.write(${['type(None)', string(op.method.toUpperCase()), path, ...fields, ...body, ...options].join(', ')})`;
    } else {
      returns = 'Download';
      call = `self.download(${[path, ...fields].join(', ')})`;
    }
    const about = [op.summary && `${op.summary}.`, op.description].filter(Boolean).join('\n\n');
    return [`    def ${snake(id)}(${args.join(', ')}) -> ${returns}:`, ...doc(about, '        '), `        return ${call}`].join('\n');
  }

  operations(model) {
    const all = model.services.flatMap((s) => s.operations);
    const methods = all.filter((op) => !BY_HAND.has(op.specName ?? op.name)).map((op) => this.operation(op));
    return `${HEADER}"""The operations of the contract, as methods."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

from .._http import JSON, Download, Paged, Transport, Version, segment
from . import models


class Operations(Transport):
    """Every operation of the contract but those that \`\`Client\`\` has by hand."""

${methods.join('\n\n')}
`;
  }
}

export default {
  name: 'netsim-python',
  run({ model, output }) {
    const python = new Python(model);
    const operations = python.operations(model);
    if (python.pending.length) throw new Error(`an operation has an object without a name: ${python.pending[0][0]}`);
    const file = (name, content) => ({ path: join(dirname(output.path), name), content });
    return [file('models.py', python.models()), file('operations.py', operations)];
  },
};

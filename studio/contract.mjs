// TypeScript types of the contract, and the schemas by which the page checks a stranger's trace.
//
// Sixty lines of our own: openapi-typescript needs TypeScript 5, and json-schema-to-typescript
// knows no prefixItems, so that a pair of numbers would be an array of anything.
import { format } from "prettier";

/** What a file is checked against before it is shown. */
const CHECKED = ["TraceDocument", "TraceHeader"];
const UNCHECKED = new Set(["default", "description", "discriminator"]);

const named = (reference) => reference.slice(reference.lastIndexOf("/") + 1);

const comment = ({ description }) =>
  description === undefined ? "" : `/** ${description.replaceAll("*/", "* /")} */\n`;

const key = (name) => (/^\w+$/.test(name) ? name : JSON.stringify(name));

function fieldsOf({ properties = {}, required = [] }) {
  const fields = Object.entries(properties).map(
    ([name, one]) =>
      `${comment(one)}${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(one)};`,
  );
  return `{\n${fields.join("\n")}\n}`;
}

const arrayOf = (type) => `readonly ${/^[\w.]+$/.test(type) ? type : `(${type})`}[]`;

/** The type of a schema; one that says nothing is a mistake here. */
function typeOf(schema) {
  if (schema.$ref) return named(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return schema.prefixItems
        ? `readonly [${schema.prefixItems.map(typeOf).join(", ")}]`
        : arrayOf(typeOf(schema.items));
    case "object":
      return typeof schema.additionalProperties === "object"
        ? `{ [name: string]: ${typeOf(schema.additionalProperties)} }`
        : fieldsOf(schema);
  }
  throw new Error(`no type for ${JSON.stringify(schema)}`);
}

/** A schema with what decides, and without what explains. */
function bare(schema) {
  if (Array.isArray(schema)) return schema.map(bare);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => !UNCHECKED.has(name));
  return Object.fromEntries(
    kept.map(([name, one]) => [
      name,
      name === "properties"
        ? Object.fromEntries(Object.entries(one).map(([field, its]) => [field, bare(its)]))
        : bare(one),
    ]),
  );
}

/** The definitions that these refer to, and those that they refer to in turn. */
function reached(names, definitions, found = new Set()) {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    const inner = JSON.stringify(definitions[name]).matchAll(/"\$ref":"([^"]+)"/g);
    reached(
      [...inner].map(([, reference]) => named(reference)),
      definitions,
      found,
    );
  }
  return [...found].sort();
}

/** The text of src/contract.ts. */
export function written(contract) {
  const definitions = contract.$defs;
  const types = Object.entries({ ...definitions, Routes: contract }).map(
    ([name, one]) => `${comment(one)}export type ${name} = ${typeOf(one)};`,
  );
  const checked = reached(CHECKED, definitions).map((name) => [name, bare(definitions[name])]);
  return format(
    [
      "// Made of contract.json, which is made of the models in Python: see build.mjs.",
      `import type { Schema } from "./validation";`,
      ...types,
      "/** Of a trace, as JSON and as the header of its file. */",
      `export const SCHEMAS = ${JSON.stringify(Object.fromEntries(checked))} as const satisfies Record<string, Schema>;`,
    ].join("\n\n"),
    { parser: "typescript", printWidth: 100 },
  );
}

// Whether a value is what a JSON Schema says: as much of JSON Schema as the contract uses. What it
// says beyond that is passed over: nobody reads it.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

type Definitions = Readonly<Record<string, Schema>>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether the value is of the kind that is defined under this name. */
export function isOf(name: string, value: unknown, definitions: Definitions): boolean {
  const schema = definitions[name];
  if (schema === undefined) throw new Error(`no schema ${name}`);
  return fits(value, schema, definitions);
}

function fits(value: unknown, schema: Schema, definitions: Definitions): boolean {
  if (schema.$ref !== undefined) {
    return isOf(schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1), value, definitions);
  }
  if (schema.anyOf !== undefined) return schema.anyOf.some((one) => fits(value, one, definitions));
  if (schema.const !== undefined && value !== schema.const) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  switch (schema.type) {
    case "null":
      return value === null;
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string" && (schema.pattern === undefined || isLike(value, schema));
    case "integer":
      return Number.isInteger(value) && isWithin(value as number, schema);
    case "number":
      return Number.isFinite(value) && isWithin(value as number, schema);
    case "array":
      return Array.isArray(value) && isList(value, schema, definitions);
    case "object":
      return isObject(value) && isRecord(value, schema, definitions);
    default:
      throw new Error(`no check for ${JSON.stringify(schema)}`);
  }
}

const isLike = (value: string, { pattern = "" }: Schema): boolean =>
  new RegExp(pattern, "u").test(value);

const isWithin = (value: number, { minimum = -Infinity, maximum = Infinity }: Schema): boolean =>
  minimum <= value && value <= maximum;

function isList(value: readonly unknown[], schema: Schema, definitions: Definitions): boolean {
  const { items, prefixItems = [], minItems = 0, maxItems = Infinity } = schema;
  if (value.length < minItems || value.length > maxItems) return false;
  return value.every((one, i) => {
    const its = prefixItems[i] ?? items;
    return its === undefined || fits(one, its, definitions);
  });
}

function isRecord(
  value: Record<string, unknown>,
  { properties = {}, required = [], additionalProperties }: Schema,
  definitions: Definitions,
): boolean {
  if (!required.every((name) => Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, one]) => {
    const its = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return typeof its !== "object" || fits(one, its, definitions);
  });
}

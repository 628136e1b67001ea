import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import {
  BOOL,
  DOUBLE,
  encodeMessage,
  field,
  INT64,
  type Kind,
  type Message,
  type MessageValue,
  message,
  repeated,
  STRING,
} from '#base/protobuf/message.ts'
import type { SwaggerDocument, SwaggerOperation, SwaggerParameter, SwaggerPath } from './openapi-v2.ts'

/** A value in YAML; JSON is YAML. */
const ANY = message({ yaml: field(2, STRING) })
const NAMED_ANY = message({ name: field(1, STRING), value: field(2, ANY) })
const STRINGS = message({ value: repeated(1, STRING) })

interface SchemaValue {
  readonly ref?: string | undefined
  readonly format?: string | undefined
  readonly description?: string | undefined
  readonly maximum?: number | undefined
  readonly minimum?: number | undefined
  readonly maxLength?: number | undefined
  readonly minLength?: number | undefined
  readonly pattern?: string | undefined
  readonly maxItems?: number | undefined
  readonly minItems?: number | undefined
  readonly maxProperties?: number | undefined
  readonly minProperties?: number | undefined
  readonly required?: readonly string[] | undefined
  readonly enum?: readonly MessageValue<typeof ANY>[] | undefined
  readonly additionalProperties?: { readonly schema?: SchemaValue; readonly boolean?: boolean } | undefined
  readonly type?: MessageValue<typeof STRINGS> | undefined
  readonly items?: { readonly schema: readonly SchemaValue[] } | undefined
  readonly allOf?: readonly SchemaValue[] | undefined
  readonly properties?: { readonly named: readonly NamedSchema[] } | undefined
  readonly extensions?: readonly MessageValue<typeof NAMED_ANY>[] | undefined
}

interface NamedSchema {
  readonly name: string
  readonly value: SchemaValue
}

/** A schema contains schemas: the message is complete only after its definition. */
const SCHEMA = lazily((): Message<SchemaValue> => SCHEMA_MESSAGE)
const NAMED_SCHEMA = message({ name: field(1, STRING), value: field(2, SCHEMA) }) as unknown as Message<NamedSchema>
const NAMED_SCHEMAS = message({ named: repeated(1, NAMED_SCHEMA) })
const SCHEMA_MESSAGE = message({
  ref: field(1, STRING),
  format: field(2, STRING),
  description: field(4, STRING),
  maximum: field(7, DOUBLE),
  minimum: field(9, DOUBLE),
  maxLength: field(11, INT64),
  minLength: field(12, INT64),
  pattern: field(13, STRING),
  maxItems: field(14, INT64),
  minItems: field(15, INT64),
  maxProperties: field(17, INT64),
  minProperties: field(18, INT64),
  required: repeated(19, STRING),
  enum: repeated(20, ANY),
  additionalProperties: field(21, message({ schema: field(1, SCHEMA), boolean: field(2, BOOL) })),
  type: field(22, STRINGS),
  items: field(23, message({ schema: repeated(1, SCHEMA) })),
  allOf: repeated(24, SCHEMA),
  properties: field(25, NAMED_SCHEMAS),
  extensions: repeated(31, NAMED_ANY),
}) as unknown as Message<SchemaValue>

const PARAMETER = message({
  body: field(
    1,
    message({ name: field(2, STRING), in: field(3, STRING), required: field(4, BOOL), schema: field(5, SCHEMA) }),
  ),
  nonBody: field(
    2,
    message({
      query: field(
        3,
        message({
          in: field(2, STRING),
          description: field(3, STRING),
          name: field(4, STRING),
          type: field(6, STRING),
        }),
      ),
      path: field(
        4,
        message({
          required: field(1, BOOL),
          in: field(2, STRING),
          description: field(3, STRING),
          name: field(4, STRING),
          type: field(5, STRING),
        }),
      ),
    }),
  ),
})
const PARAMETERS_ITEM = message({ parameter: field(1, PARAMETER) })
const RESPONSE_VALUE = message({
  response: field(
    1,
    message({ description: field(1, STRING), schema: field(2, message({ schema: field(1, SCHEMA) })) }),
  ),
})
const OPERATION = message({
  description: field(3, STRING),
  operationId: field(5, STRING),
  produces: repeated(6, STRING),
  consumes: repeated(7, STRING),
  parameters: repeated(8, PARAMETERS_ITEM),
  responses: field(
    9,
    message({ codes: repeated(1, message({ name: field(1, STRING), value: field(2, RESPONSE_VALUE) })) }),
  ),
  extensions: repeated(13, NAMED_ANY),
})
const PATH_ITEM = message({
  get: field(2, OPERATION),
  put: field(3, OPERATION),
  post: field(4, OPERATION),
  delete: field(5, OPERATION),
  patch: field(8, OPERATION),
  parameters: repeated(9, PARAMETERS_ITEM),
})
const DOCUMENT = message({
  swagger: field(1, STRING),
  info: field(2, message({ title: field(1, STRING), version: field(2, STRING) })),
  paths: field(8, message({ path: repeated(2, message({ name: field(1, STRING), value: field(2, PATH_ITEM) })) })),
  definitions: field(9, NAMED_SCHEMAS),
})

/** The document as protobuf message `openapi.v2.Document` of gnostic, which clients written in Go ask for. */
export function swaggerMessage({ swagger, info, paths, definitions }: SwaggerDocument): Uint8Array {
  return encodeMessage(DOCUMENT, {
    swagger,
    info,
    paths: { path: Object.entries(paths).map(([name, item]) => ({ name, value: pathItem(item) })) },
    definitions: named(definitions),
  })
}

function pathItem({ parameters = [], ...operations }: SwaggerPath): MessageValue<typeof PATH_ITEM> {
  const each = Object.entries(operations).map(([method, item]) => [method, operation(item as SwaggerOperation)])
  return { ...Object.fromEntries(each), parameters: parameters.map(parameter) }
}

function operation(item: SwaggerOperation): MessageValue<typeof OPERATION> {
  const { operationId, description, consumes, produces, parameters, responses } = item
  return {
    operationId,
    description,
    consumes,
    produces,
    parameters: parameters.map(parameter),
    responses: {
      codes: Object.entries(responses).map(([name, { description: text, schema }]) => ({
        name,
        value: { response: { description: text, schema: { schema: schemaValue(schema) } } },
      })),
    },
    extensions: extensionsOf(item),
  }
}

function parameter(item: SwaggerParameter): MessageValue<typeof PARAMETERS_ITEM> {
  if (item.in === 'body') return { parameter: { body: { ...item, schema: schemaValue(item.schema) } } }
  return { parameter: { nonBody: item.in === 'query' ? { query: item } : { path: item } } }
}

/** Keywords whose value has the same form in the message. */
const SAME = [
  'format',
  'description',
  'maximum',
  'minimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'required',
] as const

function schemaValue(schema: StructuralSchema): SchemaValue {
  const { $ref, enum: values, additionalProperties: more, type, items, allOf, properties } = schema
  const same = Object.fromEntries(SAME.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])))
  return {
    ...same,
    ref: $ref as string | undefined,
    enum: (values as readonly unknown[] | undefined)?.map(any),
    additionalProperties:
      typeof more === 'boolean'
        ? { boolean: more }
        : more === undefined
          ? undefined
          : { schema: schemaValue(more as StructuralSchema) },
    type: type === undefined ? undefined : { value: [type as string] },
    items: items === undefined ? undefined : { schema: [schemaValue(items as StructuralSchema)] },
    allOf: (allOf as readonly StructuralSchema[] | undefined)?.map(schemaValue),
    properties: properties === undefined ? undefined : named(properties as Readonly<Record<string, StructuralSchema>>),
    extensions: extensionsOf(schema),
  }
}

function named(schemas: Readonly<Record<string, StructuralSchema>>): { readonly named: readonly NamedSchema[] } {
  return { named: Object.entries(schemas).map(([name, schema]) => ({ name, value: schemaValue(schema) })) }
}

function extensionsOf(item: object): readonly MessageValue<typeof NAMED_ANY>[] {
  return Object.entries(item)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => ({ name, value: any(value) }))
}

function any(value: unknown): MessageValue<typeof ANY> {
  return { yaml: JSON.stringify(value) }
}

/** A kind that is defined later. */
function lazily<T>(kind: () => Message<T>): Message<T> & Kind<T> {
  return {
    wire: STRING.wire,
    write: (out, value) => kind().write(out, value),
    read: (input) => kind().read(input),
    writeFields: (out, value) => kind().writeFields(out, value),
    readFields: (input) => kind().readFields(input),
  }
}

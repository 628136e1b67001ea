import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { META } from './definition-names.ts'
import { kindSchemas, SCALE, scaleSchema } from './kind-schemas.ts'
import { metaSchemas } from './meta-schemas.ts'
import { byPath, type Operation, operationsOf, PATH_PARAMETERS, pathParameters } from './operations.ts'

/** A document of OpenAPI 2.0 ("Swagger"), with what this gateway says in it. */
export interface SwaggerDocument {
  readonly swagger: '2.0'
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, SwaggerPath>>
  readonly definitions: Readonly<Record<string, StructuralSchema>>
}

export type SwaggerPath = { readonly [method in Operation['method']]?: SwaggerOperation } & {
  readonly parameters?: readonly SwaggerParameter[]
}

export interface SwaggerOperation {
  readonly operationId: string
  readonly description: string
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
  readonly parameters: readonly SwaggerParameter[]
  readonly responses: Readonly<Record<string, { readonly description: string; readonly schema: StructuralSchema }>>
  readonly 'x-kubernetes-action': string
  readonly 'x-kubernetes-group-version-kind': object
}

export type SwaggerParameter =
  | { readonly in: 'body'; readonly name: 'body'; readonly required: boolean; readonly schema: StructuralSchema }
  | {
      readonly in: 'path'
      readonly name: string
      readonly description: string
      readonly type: string
      readonly required: true
    }
  | { readonly in: 'query'; readonly name: string; readonly description: string; readonly type: string }

const ANSWER_TYPES = ['application/json', 'application/yaml']

/** The OpenAPI 2.0 document of all kinds. */
export function openApiV2(kinds: readonly ServedKind[], gatewayVersion: string): SwaggerDocument {
  return {
    swagger: '2.0',
    info: { title: 'Gatewright', version: gatewayVersion },
    paths: Object.fromEntries(
      [...byPath(kinds.flatMap(operationsOf))].map(([path, operations]) => [path, pathItem(path, operations)]),
    ),
    definitions: {
      ...metaSchemas(to),
      ...(kinds.some(({ scale }) => scale !== undefined) ? { [SCALE]: scaleSchema(to) } : {}),
      ...Object.assign({}, ...kinds.map((kind) => kindSchemas(kind, to, swaggerSchema))),
    },
  }
}

function to(name: string, description?: string): StructuralSchema {
  return { ...(description === undefined ? {} : { description }), $ref: `#/definitions/${name}` }
}

function pathItem(path: string, operations: readonly Operation[]): SwaggerPath {
  const parameters = pathParameters(path).map(
    (name): SwaggerParameter => ({
      name,
      in: 'path',
      description: PATH_PARAMETERS[name]!,
      type: 'string',
      required: true,
    }),
  )
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, describe(operation)])),
    ...(parameters.length > 0 ? { parameters } : {}),
  }
}

function describe(operation: Operation): SwaggerOperation {
  const { id, description, action, identity, queryParameters, body, consumes = ['*/*'], answer } = operation
  const query = queryParameters.map((each): SwaggerParameter => ({ ...each, in: 'query' }))
  const inBody: readonly SwaggerParameter[] =
    body === undefined
      ? []
      : [{ in: 'body', name: 'body', required: body !== `${META}.DeleteOptions`, schema: to(body) }]
  return {
    operationId: id,
    description,
    consumes,
    produces: ANSWER_TYPES,
    parameters: [...inBody, ...query],
    responses: { [action === 'post' ? 201 : 200]: { description: 'OK', schema: to(answer) } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': identity,
  }
}

/** Keywords of OpenAPI 3.0 and of Kubernetes that clients of 2.0 would misread. */
const ABSENT_IN_V2: readonly string[] = ['anyOf', 'oneOf', 'not', 'nullable', 'x-kubernetes-validations', 'default']

/**
 * What OpenAPI 2.0 can say of a structural schema. As in an API server of Kubernetes, a value that may be null or of two types has no type:
 * old clients check the type themselves.
 */
export function swaggerSchema(schema: StructuralSchema): StructuralSchema {
  const isUntyped = schema.nullable === true || schema['x-kubernetes-int-or-string'] === true
  const entries = Object.entries(schema)
    .filter(([keyword]) => !ABSENT_IN_V2.includes(keyword) && !(isUntyped && UNTYPED.includes(keyword)))
    .map(([keyword, value]) => [keyword, convert(keyword, value)])
  return Object.fromEntries(entries) as StructuralSchema
}

const UNTYPED: readonly string[] = [
  'type',
  'properties',
  'items',
  'minimum',
  'maximum',
  'pattern',
  'minLength',
  'maxLength',
  'required',
  'additionalProperties',
]

function convert(keyword: string, value: unknown): unknown {
  if (keyword === 'properties') {
    const members = Object.entries(value as Readonly<Record<string, StructuralSchema>>)
    return Object.fromEntries(members.map(([name, member]) => [name, swaggerSchema(member)]))
  }
  if (keyword === 'allOf') return (value as readonly StructuralSchema[]).map(swaggerSchema)
  const isSchema = (keyword === 'items' || keyword === 'additionalProperties') && typeof value === 'object'
  return isSchema ? swaggerSchema(value as StructuralSchema) : value
}

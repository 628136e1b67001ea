import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { META } from './definition-names.ts'
import { kindSchemas, SCALE, scaleSchema } from './kind-schemas.ts'
import { metaSchemas } from './meta-schemas.ts'
import { byPath, type Operation, operationsOf, PATH_PARAMETERS, pathParameters } from './operations.ts'

const ANSWER_TYPES = ['application/json', 'application/yaml']

/** The body of `/openapi/v3`: where the document of each version is. @param documents hash of each document by its path, such as `api/v1` */
export function openApiIndex(documents: ReadonlyMap<string, string>): object {
  const paths = [...documents].map(([path, hash]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }])
  return { paths: Object.fromEntries(paths) }
}

/** The OpenAPI 3.0 document of the kinds of one version. @param title version of the gateway */
export function openApiV3(kinds: readonly ServedKind[], gatewayVersion: string): object {
  return {
    openapi: '3.0.0',
    info: { title: 'Gatewright', version: gatewayVersion },
    paths: Object.fromEntries(
      [...byPath(kinds.flatMap(operationsOf))].map(([path, operations]) => [path, pathItem(path, operations)]),
    ),
    components: { schemas: schemasOf(kinds) },
  }
}

function schemasOf(kinds: readonly ServedKind[]): object {
  const hasScale = kinds.some(({ scale }) => scale !== undefined)
  return {
    ...metaSchemas(to),
    ...(hasScale ? { [SCALE]: scaleSchema(to) } : {}),
    ...Object.assign({}, ...kinds.map((kind) => kindSchemas(kind, to, (schema) => schema))),
  }
}

/** OpenAPI 3.0 ignores what is beside `$ref`. */
function to(name: string, description?: string): StructuralSchema {
  const reference = { $ref: `#/components/schemas/${name}` }
  return description === undefined ? reference : { allOf: [reference], description }
}

function pathItem(path: string, operations: readonly Operation[]): object {
  const parameters = pathParameters(path).map((name) => ({
    name,
    in: 'path',
    description: PATH_PARAMETERS[name],
    required: true,
    schema: { type: 'string', uniqueItems: true },
  }))
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, describe(operation)])),
    ...(parameters.length > 0 ? { parameters } : {}),
  }
}

function describe({ id, description, action, identity, queryParameters, body, consumes = [], answer }: Operation) {
  const contentOf = (types: readonly string[], schema: string) =>
    Object.fromEntries(types.map((type) => [type, { schema: to(schema) }]))
  return {
    operationId: id,
    description,
    ...(queryParameters.length === 0
      ? {}
      : {
          parameters: queryParameters.map(({ name, type, description: text }) => ({
            name,
            in: 'query',
            description: text,
            schema: { type, uniqueItems: true },
          })),
        }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: body !== `${META}.DeleteOptions`, content: contentOf(consumes, body) } }),
    responses: { [action === 'post' ? 201 : 200]: { description: 'OK', content: contentOf(ANSWER_TYPES, answer) } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': identity,
  }
}

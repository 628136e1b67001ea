/** A structural schema of a CustomResourceDefinition (Kubernetes, `JSONSchemaProps`), with the keywords that this server reads. */
export interface JsonSchema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly title?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly nullable?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly items?: JsonSchema
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly not?: JsonSchema
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A rule in CEL (Kubernetes, `ValidationRule`). */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schema of a member of an object; undefined if it has none. Names such as `constructor` are members like any other. */
export function schemaOfMember(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const { properties, additionalProperties } = schema ?? {}
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** The path of a member: `spec.a`; the key of a map is in brackets, because it may have dots. */
export function pathOfMember({ properties = {} }: JsonSchema, path: string, name: string): string {
  if (path === '') return name
  return Object.hasOwn(properties, name) ? `${path}.${name}` : `${path}[${name}]`
}

/** An object with one member more; a member `__proto__` is a member like any other. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

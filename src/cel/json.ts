import { CelError } from './error.ts'
import { formatDuration, formatTimestamp } from './time-format.ts'
import { Double, Duration, HostObject, MapValue, Optional, Timestamp, TypeValue, Uint, type Value } from './value.ts'

/** A parsed JSON object, converted member by member when asked. */
export class JsonMap extends MapValue {
  readonly #object: Readonly<Record<string, unknown>>

  constructor(object: Readonly<Record<string, unknown>>) {
    super()
    this.#object = object
  }

  /** The parsed JSON behind the map, for those who pass it on. */
  get json(): Readonly<Record<string, unknown>> {
    return this.#object
  }

  get size(): number {
    return Object.keys(this.#object).length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#object, key)) return undefined
    return fromJson(this.#object[key])
  }

  has(key: Value): boolean {
    return typeof key === 'string' && Object.hasOwn(this.#object, key)
  }

  keys(): Iterable<Value> {
    return Object.keys(this.#object)
  }
}

/**
 * A CEL value for parsed JSON, or for any plain JavaScript data. Whole numbers are ints, others doubles; objects are
 * wrapped, not copied, and must not change while the value is in use. `undefined` and functions become null.
 */
export function fromJson(json: unknown): Value {
  switch (typeof json) {
    case 'string':
    case 'boolean':
      return json
    case 'number':
      return Number.isSafeInteger(json) ? json + 0 : new Double(json)
    case 'bigint':
      return Number.isSafeInteger(Number(json)) ? Number(json) : json
    case 'object':
      return json === null ? null : fromObject(json)
    default:
      return null
  }
}

function fromObject(json: object): Value {
  if (Array.isArray(json)) return json.map(fromJson)
  if (json instanceof Uint8Array || json instanceof MapValue || json instanceof HostObject || json instanceof Double)
    return json
  if (json instanceof Uint || json instanceof Timestamp || json instanceof Duration || json instanceof Optional)
    return json
  return new JsonMap(json as Record<string, unknown>)
}

/**
 * A CEL value as plain JSON data: bytes as base64, times as RFC 3339 and `1.5s`, an absent optional as null,
 * keys as text. Ints beyond the safe range and infinite doubles become strings, as in protobuf's JSON.
 */
export function toJson(value: Value): unknown {
  switch (typeof value) {
    case 'bigint':
      return String(value)
    case 'object':
      return value === null ? null : objectToJson(value)
    default:
      return value
  }
}

function objectToJson(value: Value & object): unknown {
  if (value instanceof Double) return Number.isFinite(value.value) ? value.value : String(value.value)
  if (value instanceof Uint) return typeof value.value === 'number' ? value.value : String(value.value)
  if (value instanceof JsonMap) return value.json
  if (value instanceof MapValue) return mapToJson(value)
  if (value instanceof Uint8Array) return encodeBase64(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof HostObject) return hostToJson(value)
  return value.map(toJson)
}

function mapToJson(map: MapValue): unknown {
  const object: Record<string, unknown> = Object.create(null)
  for (const key of map.keys()) {
    const value = map.get(key)
    if (value !== undefined && !(value instanceof CelError)) object[keyText(key)] = toJson(value)
  }
  return object
}

function hostToJson(host: HostObject): unknown {
  const own = host.toJson()
  if (own !== undefined) return own
  const object: Record<string, unknown> = Object.create(null)
  for (const key of host.keys()) {
    const value = host.index(key)
    if (value !== undefined && !(value instanceof CelError)) object[keyText(key)] = toJson(value)
  }
  return object
}

function keyText(key: Value): string {
  return String(key instanceof Uint ? key.value : key)
}

/** Standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** Standard alphabet; padding may be missing. @returns undefined when it is not base64 */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

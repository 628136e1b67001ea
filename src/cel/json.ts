import { isRawNumber, rawNumber } from '#base/exact-json.ts'
import { charge } from './budget.ts'
import { CelError } from './error.ts'
import { formatDuration, formatTimestamp } from './time-format.ts'
import { Double, Duration, HostObject, MapValue, Optional, Timestamp, TypeValue, Uint, type Value } from './value.ts'
import { WEIGHTS } from './weights.ts'

/** A parsed JSON object whose members are converted on access. */
export class JsonMap extends MapValue {
  readonly #object: Readonly<Record<string, unknown>>
  #names: readonly string[] | undefined
  /** Converted lists and objects, because a loop may read them in every iteration. */
  #converted: Map<string, Value> | undefined

  constructor(object: Readonly<Record<string, unknown>>) {
    super()
    this.#object = object
  }

  /** The parsed JSON, for callers that forward it. */
  get json(): Readonly<Record<string, unknown>> {
    return this.#object
  }

  get size(): number {
    return this.#listNames().length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#object, key)) return undefined
    const member = this.#object[key]
    return typeof member === 'object' && member !== null ? this.#convert(key, member) : fromJson(member)
  }

  #convert(key: string, member: object): Value {
    let value = this.#converted?.get(key)
    if (value === undefined) {
      value = fromObject(member)
      this.#converted ??= new Map()
      this.#converted.set(key, value)
    }
    return value
  }

  #listNames(): readonly string[] {
    if (this.#names === undefined) {
      this.#names = Object.keys(this.#object)
      charge(this.#names.length * WEIGHTS.jsonName)
    }
    return this.#names
  }

  has(key: Value): boolean {
    return typeof key === 'string' && Object.hasOwn(this.#object, key)
  }

  keys(): Iterable<Value> {
    return this.#listNames()
  }
}

/**
 * A CEL value for parsed JSON, or for plain JavaScript data. Integers are ints, other numbers doubles. Objects are wrapped, not copied, and
 * must not change while the value is in use. `undefined` and functions become null.
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
  if (Array.isArray(json)) return fromList(json)
  if (isRawNumber(json)) return fromDigits(json.rawJSON)
  if (json instanceof Uint8Array || json instanceof MapValue || json instanceof HostObject || json instanceof Double)
    return json
  if (json instanceof Uint || json instanceof Timestamp || json instanceof Duration || json instanceof Optional)
    return json
  return new JsonMap(json as Record<string, unknown>)
}

function fromList(json: readonly unknown[]): Value {
  charge(json.length * WEIGHTS.jsonElement)
  return json.map(fromJson)
}

/** Maximum depth of data. */
const MAX_DEPTH = 1000

/** Converts the digits of a number that a JavaScript number cannot represent. */
type LargeNumber = (digits: string) => unknown

const WHOLE = /^-?\d+$/

/** The value of a number that a double cannot represent. */
function fromDigits(text: string): Value {
  if (!WHOLE.test(text)) return new Double(Number(text), text)
  const exact = BigInt(text)
  return BigInt.asIntN(64, exact) === exact ? fromJson(exact) : new Double(Number(text), text)
}

function convertDouble({ value, written }: Double, largeNumber: LargeNumber): unknown {
  if (written !== undefined && (largeNumber === rawNumber || WHOLE.test(written))) return largeNumber(written)
  return Number.isFinite(value) ? value : (written ?? String(value))
}

/**
 * A CEL value as plain JSON data: bytes as base64, times as RFC 3339 and `1.5s`, an absent optional as null, keys as text. Ints outside the
 * safe range and infinite doubles become strings, as in the JSON form of protobuf.
 * @throws RangeError for data that is nested too deeply
 */
export function toJson(value: Value): unknown {
  return convert(value, String, 0)
}

/** The same, but numbers of the input are written with the same digits. @throws RangeError for data that is nested too deeply */
export function toExactJson(value: Value): unknown {
  return convert(value, rawNumber, 0)
}

/** `toExactJson` as text. @throws RangeError for data that is nested too deeply */
export function toJsonText(value: Value): string {
  return JSON.stringify(toExactJson(value))
}

function convert(value: Value, largeNumber: LargeNumber, depth: number): unknown {
  charge(WEIGHTS.writtenValue)
  switch (typeof value) {
    case 'string':
      charge(value.length * WEIGHTS.writtenUnit)
      return value
    case 'bigint':
      return largeNumber(String(value))
    case 'object':
      return value === null ? null : convertObject(value, largeNumber, depth)
    default:
      return value
  }
}

function convertObject(value: Value & object, largeNumber: LargeNumber, depth: number): unknown {
  checkDepth(depth)
  if (value instanceof Double) return convertDouble(value, largeNumber)
  if (value instanceof Uint) return typeof value.value === 'number' ? value.value : largeNumber(String(value.value))
  if (value instanceof JsonMap) return convertData(value.json, largeNumber, depth)
  if (value instanceof MapValue) return convertMap(value, largeNumber, depth)
  if (value instanceof Uint8Array) return writeBytes(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Optional) return value.value === undefined ? null : convert(value.value, largeNumber, depth)
  if (value instanceof TypeValue) return value.name
  if (value instanceof HostObject) return convertHost(value, largeNumber, depth)
  return value.map((element) => convert(element, largeNumber, depth + 1))
}

function writeBytes(bytes: Uint8Array): string {
  charge(bytes.length * WEIGHTS.writtenUnit)
  return encodeBase64(bytes)
}

/** Converts data of the host; objects are copied only if they contain a value without a JSON form. */
function convertData(data: unknown, largeNumber: LargeNumber, depth: number): unknown {
  charge(WEIGHTS.writtenValue)
  if (typeof data === 'string') {
    charge(data.length * WEIGHTS.writtenUnit)
    return data
  }
  if (data === null || typeof data !== 'object') return typeof data === 'bigint' ? largeNumber(String(data)) : data
  checkDepth(depth)
  if (isRawNumber(data) && largeNumber === rawNumber) return data
  if (Array.isArray(data)) return convertElements(data, largeNumber, depth)
  const value = fromObject(data)
  if (!(value instanceof JsonMap) || data instanceof JsonMap) return convert(value, largeNumber, depth)
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(data)) {
    charge(WEIGHTS.jsonName)
    const member = (data as Record<string, unknown>)[key]
    const converted = convertData(member, largeNumber, depth + 1)
    if (converted === member) continue
    copy ??= Object.assign(Object.create(null), data)
    copy![key] = converted
  }
  return copy ?? data
}

function convertElements(data: readonly unknown[], largeNumber: LargeNumber, depth: number): readonly unknown[] {
  const converted = data.map((element) => convertData(element, largeNumber, depth + 1))
  return converted.some((element, i) => element !== data[i]) ? converted : data
}

/** Limits the depth, because serialising the result also recurses, with less stack left. */
function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep for JSON')
}

function convertMap(map: MapValue, largeNumber: LargeNumber, depth: number): unknown {
  const object: Record<string, unknown> = Object.create(null)
  for (const key of map.keys()) {
    const value = map.get(key)
    charge(WEIGHTS.entry)
    if (value !== undefined && !(value instanceof CelError))
      object[keyText(key)] = convert(value, largeNumber, depth + 1)
  }
  return object
}

function convertHost(host: HostObject, largeNumber: LargeNumber, depth: number): unknown {
  const own = host.toJson()
  if (own !== undefined) return own
  const object: Record<string, unknown> = Object.create(null)
  for (const key of host.keys()) {
    const value = host.index(key)
    charge(WEIGHTS.field)
    if (value !== undefined && !(value instanceof CelError))
      object[keyText(key)] = convert(value, largeNumber, depth + 1)
  }
  return object
}

function keyText(key: Value): string {
  return String(key instanceof Uint ? key.value : key)
}

/** Standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64()
}

/** Standard alphabet; padding may be missing. @returns undefined if the text is not base64 */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text)
  } catch {
    return undefined
  }
}

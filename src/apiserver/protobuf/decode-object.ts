import { Buffer } from 'node:buffer'
import { parseJson } from '#base/parse-json.ts'
import { MalformedMessage, Reader } from '#base/protobuf/reader.ts'
import { fieldsOf, type MessageField, messageOf } from './messages.ts'

/** The media type of objects in this form (Kubernetes, "Protobuf encoding"). */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** The bytes are not an object of a known kind in the form of Kubernetes. */
export class UnreadableObject extends Error {}

type Members = Record<string, unknown>
const MAGIC = Buffer.from('k8s\0')

/**
 * Reads an object that a client sent as protobuf.
 * @returns the same object as JSON
 * @throws UnreadableObject
 */
export function decodeObject(bytes: Uint8Array): Members {
  if (!MAGIC.equals(bytes.subarray(0, MAGIC.length))) throw new UnreadableObject('the body does not begin with "k8s"')
  try {
    const { apiVersion, kind, raw } = readEnvelope(new Reader(bytes.subarray(MAGIC.length)))
    const message = messageOf(apiVersion, kind)
    if (message === undefined) throw new UnreadableObject(`${kind} of ${apiVersion} is not available as protobuf`)
    return { apiVersion, kind, ...readMessage(new Reader(raw), message) }
  } catch (error) {
    if (error instanceof MalformedMessage || error instanceof SyntaxError) throw new UnreadableObject(error.message)
    throw error
  }
}

/** `runtime.Unknown`: the kind, and the bytes of the object. */
function readEnvelope(input: Reader): { readonly apiVersion: string; readonly kind: string; readonly raw: Uint8Array } {
  let type: Members = {}
  let raw: Uint8Array = new Uint8Array()
  while (!input.atEnd) {
    const tag = input.varint()
    if (tag === tagOf(1)) type = input.nested((inner) => readFields(inner, TYPE_META))
    else if (tag === tagOf(2)) raw = input.bytes()
    else input.skip(tag & 7)
  }
  return { apiVersion: String(type.apiVersion ?? ''), kind: String(type.kind ?? ''), raw }
}

const TYPE_META: readonly MessageField[] = [
  [1, 'apiVersion', 'string'],
  [2, 'kind', 'string'],
]

function tagOf(field: number): number {
  return (field << 3) | 2
}

function readMessage(input: Reader, message: string): Members {
  return readFields(input, fieldsOf(message))
}

function readFields(input: Reader, fields: readonly MessageField[]): Members {
  const read: Members = {}
  while (!input.atEnd) {
    const tag = input.varint()
    const field = fields.find(([number]) => number === tag >>> 3)
    if (field === undefined) input.skip(tag & 7)
    else readField(input, field, read)
  }
  return read
}

function readField(input: Reader, [, name, type]: MessageField, into: Members): void {
  if (name === '') return void Object.assign(into, readValue(input, type) as Members)
  if (type.startsWith('[]')) {
    into[name] ??= []
    const list = into[name] as unknown[]
    list.push(readValue(input, type.slice(2)))
  } else if (type.startsWith('{}')) {
    into[name] ??= Object.create(null)
    const map = into[name] as Members
    const [key, value] = readEntry(input, type.slice(2))
    map[key] = value
  } else if (type.startsWith('*')) into[name] = readValue(input, type.slice(1))
  else {
    const value = readValue(input, type)
    // The platform's own JSON leaves out what is zero.
    if (value !== '' && value !== 0 && value !== false && value !== undefined) into[name] = value
  }
}

function readEntry(input: Reader, type: string): readonly [string, unknown] {
  return input.nested((entry) => {
    let key = ''
    let value: unknown = type === 'string' || type === 'bytes' ? '' : {}
    while (!entry.atEnd) {
      const tag = entry.varint()
      if (tag >>> 3 === 1) key = entry.text()
      else if (tag >>> 3 === 2) value = readValue(entry, type)
      else entry.skip(tag & 7)
    }
    return [key, value]
  })
}

/** @returns undefined for a time that is not set */
function readValue(input: Reader, type: string): unknown {
  switch (type) {
    case 'string':
      return input.text()
    case 'bool':
      return input.varint() !== 0
    case 'int':
      return input.int64()
    case 'bytes':
      return Buffer.from(input.bytes()).toString('base64')
    case 'time':
      return timeOf(input, 0)
    case 'microTime':
      return timeOf(input, 6)
    case 'quantity':
      return String(input.nested((inner) => readFields(inner, [[1, 'text', '*string']])).text ?? '0')
    case 'intOrString':
      return intOrString(input.nested((inner) => readFields(inner, INT_OR_STRING)))
    case 'fields':
    case 'raw': {
      const { json } = input.nested((inner) => readFields(inner, [[1, 'json', '*bytes']]))
      return parseJson(Buffer.from(String(json ?? 'bnVsbA=='), 'base64').toString())
    }
    default:
      return readNamed(input, type)
  }
}

const INT_OR_STRING: readonly MessageField[] = [
  [1, 'type', '*int'],
  [2, 'int', '*int'],
  [3, 'text', '*string'],
]

function intOrString({ type = 0, int = 0, text = '' }: Members): unknown {
  return type === 0 ? int : text
}

function readNamed(input: Reader, type: string): unknown {
  if (!type.startsWith('list:')) return input.nested((inner) => readMessage(inner, type))
  return input.nested((inner) => readMessage(inner, type.slice('list:'.length))).items ?? []
}

/** @param digits of the fraction of the second */
function timeOf(input: Reader, digits: number): string | undefined {
  const { seconds, nanos = 0 } = input.nested((inner) =>
    readFields(inner, [
      [1, 'seconds', '*int'],
      [2, 'nanos', '*int'],
    ]),
  )
  if (seconds === undefined) return undefined
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, -'.000Z'.length)
  return digits === 0 ? `${whole}Z` : `${whole}.${String(nanos).padStart(9, '0').slice(0, digits)}Z`
}

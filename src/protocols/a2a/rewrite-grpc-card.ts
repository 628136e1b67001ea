import { DELIMITED, MalformedMessage, Reader } from '#base/protobuf/reader.ts'
import { Writer } from '#base/protobuf/writer.ts'
import { FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import { CardAddresses } from './card-addresses.ts'
import type { CardLocation } from './card-location.ts'

/** Numbers of the fields of a card that the gateway reads (`a2a.proto`). */
interface CardFields {
  /** Address and binding of the card itself. */
  readonly url: number | undefined
  readonly binding: number | undefined
  readonly interfaces: number
  /** The first interface that is not gRPC has an address that the agent calls its own. */
  readonly prefersFirst: boolean
  readonly signatures: number
}

/** In both versions, an interface has its address and its binding first. */
const INTERFACE = { url: 1, binding: 2 } as const

/** By the package of the service: 1.0 and 0.3. */
const CARD_FIELDS: Readonly<Record<string, CardFields>> = {
  'lf.a2a.v1': { url: undefined, binding: undefined, interfaces: 3, prefersFirst: true, signatures: 13 },
  'a2a.v1': { url: 3, binding: 14, interfaces: 15, prefersFirst: false, signatures: 17 },
}

/**
 * The same as `rewriteCard` for the response to a call of gRPC. All other fields stay byte for byte.
 * @param target path of the call
 * @returns undefined if the body is not one card, or one of a version that is not known
 */
export function rewriteGrpcCard(
  body: Uint8Array,
  target: string,
  maxBytes: number,
  location: CardLocation,
): Uint8Array | undefined {
  // An error has no message.
  if (body.length === 0) return body
  const version = /^.*\/([\w.]+)\.A2AService\//.exec(target)?.[1] ?? ''
  const fields = Object.hasOwn(CARD_FIELDS, version) ? CARD_FIELDS[version] : undefined
  if (fields === undefined) return undefined
  try {
    const frames = new FrameReader(maxBytes)
    frames.push(body)
    const message = frames.next()
    if (message === undefined || !frames.atBoundary) return undefined
    return frameMessage(rewriteMessage(message, fields, new CardAddresses(location)))
  } catch {
    // A frame or a message that is malformed.
    return undefined
  }
}

/** One field of a message, with its tag. */
interface Field {
  readonly number: number
  readonly bytes: Uint8Array
  /** The value of a field with a length. */
  readonly value: Uint8Array | undefined
}

function rewriteMessage(message: Uint8Array, numbers: CardFields, addresses: CardAddresses): Uint8Array {
  const card = fieldsOf(message)
  const isGrpc = hasGrpcBinding(card, numbers.binding)
  const interfaces = card
    .filter(({ number }) => number === numbers.interfaces)
    .map((field) => fieldsOf(contentOf(field)))
  const own = textsOf(card, numbers.url)
  if (numbers.prefersFirst) {
    const preferred = interfaces.find((fields) => !hasGrpcBinding(fields, INTERFACE.binding))
    own.push(...textsOf(preferred ?? [], INTERFACE.url))
  }
  for (const address of own) addresses.addOwn(address)

  let hasChanged = false
  const rewrite = (field: Field, isGrpc: boolean): Uint8Array => {
    const address = new TextDecoder().decode(contentOf(field))
    const changed = addresses.toClient(address, isGrpc)
    if (changed === undefined || changed === address) return field.bytes
    hasChanged = true
    return delimited(field.number, new TextEncoder().encode(changed))
  }
  const rewritten = card.map((field) => {
    if (field.number === numbers.url) return rewrite(field, isGrpc)
    if (field.number !== numbers.interfaces) return field.bytes
    const fields = fieldsOf(contentOf(field))
    const ofGrpc = hasGrpcBinding(fields, INTERFACE.binding)
    const parts = fields.map((part) => (part.number === INTERFACE.url ? rewrite(part, ofGrpc) : part.bytes))
    return delimited(field.number, concat(parts))
  })
  if (!hasChanged) return message
  return concat(rewritten.filter((_, index) => card[index]!.number !== numbers.signatures))
}

function hasGrpcBinding(fields: readonly Field[], number: number | undefined): boolean {
  return textsOf(fields, number).some((binding) => binding.toUpperCase() === 'GRPC')
}

function textsOf(fields: readonly Field[], number: number | undefined): string[] {
  return fields.filter((field) => field.number === number).map((field) => new TextDecoder().decode(contentOf(field)))
}

/** Throws `MalformedMessage`. */
function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = []
  const reader = new Reader(message)
  while (!reader.atEnd) {
    const start = reader.position
    const tag = reader.varint()
    const wire = tag % 8
    const number = Math.floor(tag / 8)
    let value: Uint8Array | undefined
    if (wire === DELIMITED) value = reader.bytes()
    else reader.skip(wire)
    fields.push({ number, bytes: message.subarray(start, reader.position), value })
  }
  return fields
}

function contentOf({ number, value }: Field): Uint8Array {
  if (value === undefined) throw new MalformedMessage(`field ${number} has no length`)
  return value
}

function delimited(number: number, value: Uint8Array): Uint8Array {
  const writer = new Writer()
  writer.varint(number * 8 + DELIMITED)
  writer.bytes(value)
  return writer.written
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

import { DELIMITED, FIXED64, MalformedMessage, Reader, VARINT, type WireType } from './reader.ts'
import { Writer } from './writer.ts'

/** The type of a value: how it is written and read after its tag. */
export interface Kind<T> {
  readonly wire: WireType
  write(out: Writer, value: T): void
  read(input: Reader): T
}

/** A kind with a length. Only such values can be repeated: packed numbers are not supported. */
export interface DelimitedKind<T> extends Kind<T> {
  readonly wire: typeof DELIMITED
}

export const STRING: DelimitedKind<string> = {
  wire: DELIMITED,
  write: (out, value) => out.text(value),
  read: (input) => input.text(),
}
export const BYTES: DelimitedKind<Uint8Array> = {
  wire: DELIMITED,
  write: (out, value) => out.bytes(value),
  read: (input) => input.bytes(),
}
export const BOOL: Kind<boolean> = {
  wire: VARINT,
  write: (out, value) => out.varint(value ? 1 : 0),
  read: (input) => input.varint() !== 0,
}
/** Also enums. */
export const INT32: Kind<number> = {
  wire: VARINT,
  write: (out, value) => (value < 0 ? out.negativeVarint(value) : out.varint(value)),
  read: (input) => input.int32(),
}
export const UINT32: Kind<number> = {
  wire: VARINT,
  write: (out, value) => out.varint(value),
  read: (input) => input.int32() >>> 0,
}
export const INT64: Kind<number> = { ...INT32, read: (input) => input.int64() }
export const DOUBLE: Kind<number> = {
  wire: FIXED64,
  write: (out, value) => out.double(value),
  read: (input) => input.double(),
}

/** One field of a message. `T` is the type of its member. */
export interface Field<T> {
  readonly number: number
  readonly wire: WireType
  write(out: Writer, value: T): void
  /** @param previous the value so far: fields may occur more than once */
  read(input: Reader, previous: T | undefined): T
}

/** A field with one value. The last occurrence counts. */
export function field<T>(number: number, { wire, write, read }: Kind<T>): Field<T> {
  const tag = tagOf(number, wire)
  return {
    number,
    wire,
    write: (out, value) => {
      out.varint(tag)
      write(out, value)
    },
    read,
  }
}

/** A `repeated` field. */
export function repeated<T>(number: number, { write, read }: DelimitedKind<T>): Field<readonly T[]> {
  const tag = tagOf(number, DELIMITED)
  return {
    number,
    wire: DELIMITED,
    write: (out, values) => {
      for (const value of values) {
        out.varint(tag)
        write(out, value)
      }
    },
    read: (input, previous = []) => {
      // `previous` was created here.
      ;(previous as T[]).push(read(input))
      return previous
    },
  }
}

/** A `map` field with text keys. An entry is a message with the fields 1 (key) and 2 (value). */
export function map<T>(number: number, kind: Kind<T>): Field<ReadonlyMap<string, T>> {
  const tag = tagOf(number, DELIMITED)
  const key = field(1, STRING)
  const value = field(2, kind)
  const entry = message({ key, value })
  const writeEntry = (out: Writer, [name, member]: readonly [string, T]) => {
    key.write(out, name)
    value.write(out, member)
  }
  return {
    number,
    wire: DELIMITED,
    write: (out, entries) => {
      for (const one of entries) {
        out.varint(tag)
        out.nested(one, writeEntry)
      }
    },
    read: (input, previous = new Map()) => {
      const { key = '', value } = entry.read(input)
      // `previous` was created here. An absent value has the default of its type, which no caller needs.
      if (value !== undefined) (previous as Map<string, T>).set(key, value)
      return previous
    },
  }
}

type Fields = Readonly<Record<string, Field<unknown>>>

/** The value of a message with these fields. Absent members are unset: neither they nor their defaults are on the wire. */
export type ValueOf<F extends Fields> = {
  readonly [K in keyof F]?: (F[K] extends Field<infer T> ? T : never) | undefined
}

/** A message type. It is also a kind, for nested messages. */
export interface Message<T> extends DelimitedKind<T> {
  /** Like `write`, without the length. */
  writeFields(out: Writer, value: T): void
  /** Reads to the end of the input. Unknown fields are skipped. */
  readFields(input: Reader): T
}

/** The value of a message type. */
export type MessageValue<M> = M extends Message<infer T> ? T : never

/** @param fields by the names of the members: the member `hostName` is the field `host_name` of the definition */
export function message<const F extends Fields>(fields: F): Message<ValueOf<F>> {
  const names = Object.keys(fields)
  const list = Object.values(fields)
  const byTag = new Map(list.map((one, i) => [tagOf(one.number, one.wire), { name: names[i]!, one }]))
  const writeFields = (out: Writer, value: ValueOf<F>) => {
    for (let i = 0; i < list.length; i++) {
      const member = value[names[i]!]
      if (member !== undefined) list[i]!.write(out, member)
    }
  }
  const readFields = (input: Reader) => {
    const value: Record<string, unknown> = {}
    while (!input.atEnd) {
      const tag = input.varint()
      const known = byTag.get(tag)
      if (known !== undefined) value[known.name] = known.one.read(input, value[known.name])
      else skipField(input, tag)
    }
    // The fields determine the type.
    return value as ValueOf<F>
  }
  return {
    wire: DELIMITED,
    write: (out, value) => out.nested(value, writeFields),
    read: (input) => input.nested(readFields),
    writeFields,
    readFields,
  }
}

/** One for all messages, because encoding does not wait. */
const writer = new Writer()

export function encodeMessage<T>({ writeFields }: Message<T>, value: T): Uint8Array {
  writer.clear()
  writeFields(writer, value)
  return writer.written.slice()
}

/** @returns undefined if the bytes are not a message of that type */
export function decodeMessage<T>({ readFields }: Message<T>, bytes: Uint8Array): T | undefined {
  try {
    return readFields(new Reader(bytes))
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined
    throw error
  }
}

function skipField(input: Reader, tag: number): void {
  if (tag < 8) throw new MalformedMessage('a field has number 0')
  input.skip(tag % 8)
}

function tagOf(number: number, wire: WireType): number {
  return 8 * number + wire
}

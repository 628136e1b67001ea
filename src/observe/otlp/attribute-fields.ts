import type { SecretHider } from '#base/known-secrets.ts'
import { Writer } from '#base/protobuf/writer.ts'
import type { Field, Group } from '../fields.ts'
import { keyBytes, writeKnown, writeKnownList } from './write-attribute.ts'

/** A field with its encoded name. All columns have the same shape, which makes them fast. */
interface Column extends Pick<Required<Field<object>>, 'name' | 'read'> {
  readonly key: Uint8Array
  readonly usual: string | number | undefined
  readonly isList: boolean
}

interface Columns<E> {
  readonly of: (event: E) => object | undefined
  readonly columns: readonly Column[]
  /** The encoded attributes of each subject, if they never change. */
  known: WeakMap<object, Uint8Array> | undefined
}

/** Fields as attributes of OTLP. They are selected at configuration time; each event only reads and encodes them. */
export class AttributeFields<E> {
  readonly #tag: number
  readonly #secrets: SecretHider
  readonly #groups: readonly Columns<E>[]
  /** Of the secrets that encoded attributes do not show. */
  #version: number

  /**
   * @param tag of the list of attributes in its message
   * @param removed names of fields to leave out
   */
  constructor(tag: number, groups: readonly Group<E>[], secrets: SecretHider, removed: ReadonlySet<string>) {
    this.#tag = tag
    this.#secrets = secrets
    this.#version = secrets.version
    this.#groups = groups
      .map(({ of, fields, constant }) => ({
        of,
        columns: fields
          .filter(({ name, logged }) => logged !== false && !removed.has(name))
          .map(({ name, read, usual, list }) => ({ name, key: keyBytes(name), read, usual, isList: list === true })),
        known: constant === undefined ? undefined : new WeakMap<object, Uint8Array>(),
      }))
      .filter(({ columns }) => columns.length > 0)
  }

  /** Unknown values are omitted. @param covered names that another attribute replaces */
  write(out: Writer, event: E, covered?: ReadonlySet<string>): void {
    const { version } = this.#secrets
    if (version !== this.#version) this.#forgetEncoded(version)
    for (const { of, columns, known } of this.#groups) {
      const subject = of(event)
      if (subject === undefined) continue
      if (known === undefined || covered !== undefined) this.#writeColumns(out, columns, subject, covered)
      else out.encoded(this.#encodedOnce(columns, subject, known))
    }
  }

  #forgetEncoded(version: number): void {
    this.#version = version
    for (const group of this.#groups) if (group.known !== undefined) group.known = new WeakMap()
  }

  #encodedOnce(columns: readonly Column[], subject: object, known: WeakMap<object, Uint8Array>): Uint8Array {
    let bytes = known.get(subject)
    if (bytes === undefined) {
      const out = new Writer()
      this.#writeColumns(out, columns, subject, undefined)
      bytes = out.written.slice()
      known.set(subject, bytes)
    }
    return bytes
  }

  #writeColumns(
    out: Writer,
    columns: readonly Column[],
    subject: object,
    covered: ReadonlySet<string> | undefined,
  ): void {
    for (const { name, key, read, usual, isList } of columns) {
      const value = read(subject)
      if (value === undefined || value === '' || value === usual || covered?.has(name)) continue
      if (isList) writeKnownList(out, this.#tag, key, this.#secrets.hideValues(String(value)).split(','))
      else writeKnown(out, this.#tag, key, typeof value === 'number' ? value : this.#secrets.hideValues(value))
    }
  }
}

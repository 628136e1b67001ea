import type { SecretHider } from '#base/known-secrets.ts'
import type { Field, Group } from '../fields.ts'
import type { LineFormat } from './field-line.ts'

/** A field with the text before its value. All columns have the same shape, which makes them fast. */
interface Column extends Pick<Required<Field<object>>, 'name' | 'read'> {
  readonly key: string
  readonly plain: boolean
  /** Stands after a number. */
  readonly unit: string
  readonly usual: string | number | undefined
  readonly repeats: boolean
  /** The value that was written last, and its text, if most values repeat. */
  last: string | number | undefined
  lastText: string
}

interface Columns<E> {
  readonly of: (event: E) => object | undefined
  readonly columns: readonly Column[]
  /** The cached text for each subject, if it never changes. */
  texts: WeakMap<object, string> | undefined
}

/** The fields of one kind of line in one format. They are selected at configuration time; each event only reads and joins them. */
export class LineFields<E> {
  readonly #format: LineFormat
  readonly #secrets: SecretHider
  readonly #groups: readonly Columns<E>[]
  /** Of the secrets that cached texts do not show. */
  #version: number

  constructor(
    groups: readonly Group<E>[],
    format: LineFormat,
    secrets: SecretHider,
    removed: ReadonlySet<string> = new Set(),
  ) {
    this.#format = format
    this.#secrets = secrets
    this.#version = secrets.version
    this.#groups = groups
      .map(({ of, fields, constant }) => ({
        of,
        columns: fields
          .filter(({ name, logged }) => logged !== false && !removed.has(name) && format.shows?.(name, true) !== false)
          .map(({ name, read, usual, unit, plain = false, repeats = false }) => ({
            name,
            plain,
            key: format.key(name),
            unit: unit === undefined ? '' : format.unit(unit),
            read,
            usual,
            repeats,
            last: undefined,
            lastText: '',
          })),
        texts: constant === undefined ? undefined : new WeakMap<object, string>(),
      }))
      .filter(({ columns }) => columns.length > 0)
  }

  /** Unknown values are omitted. @param covered names that another field of this line replaces */
  write(event: E, covered?: ReadonlySet<string>): string {
    const { version } = this.#secrets
    if (version !== this.#version) this.#forgetTexts(version)
    let line = ''
    for (const { of, columns, texts } of this.#groups) {
      const subject = of(event)
      if (subject === undefined) continue
      line +=
        texts === undefined || covered !== undefined
          ? this.#join(columns, subject, covered)
          : this.#known(columns, subject, texts)
    }
    return line
  }

  #forgetTexts(version: number): void {
    this.#version = version
    for (const group of this.#groups) {
      if (group.texts !== undefined) group.texts = new WeakMap()
      for (const column of group.columns) column.last = undefined
    }
  }

  #known(columns: readonly Column[], subject: object, texts: WeakMap<object, string>): string {
    let text = texts.get(subject)
    if (text === undefined) {
      text = this.#join(columns, subject, undefined)
      texts.set(subject, text)
    }
    return text
  }

  #join(columns: readonly Column[], subject: object, covered: ReadonlySet<string> | undefined): string {
    let text = ''
    for (const column of columns) {
      const value = column.read(subject)
      if (value === undefined || value === '' || value === column.usual || covered?.has(column.name)) continue
      text += column.repeats ? this.#repeated(column, value) : this.#textOf(column, value)
    }
    return text
  }

  #repeated(column: Column, value: string | number): string {
    if (value !== column.last) {
      column.last = value
      column.lastText = this.#textOf(column, value)
    }
    return column.lastText
  }

  #textOf({ key, unit, plain }: Column, value: string | number): string {
    const format = this.#format
    if (typeof value === 'number') return key + format.number(value) + unit
    return key + (plain ? format.plain(value) : format.text(this.#secrets.hideValues(value)))
  }
}

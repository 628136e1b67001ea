import type { JsonKind, JsonValue } from '../json/json-document.ts'
import type { Losses } from './losses.ts'
import { Untranslatable } from './untranslatable.ts'

/**
 * Reads the members of an object, each at most once. What no reader has asked for is a loss. All methods throw `Untranslatable` for a value of
 * another type; a member that is null counts as absent.
 */
export class ObjectReader {
  readonly value: JsonValue
  /** Where the values are that have been read. */
  readonly #read: number[] = []

  /** @param value anything; refused if it is no object */
  constructor(value: JsonValue) {
    this.value = expectKind(value, 'object')
  }

  /** A member of any type. */
  take(name: string): JsonValue | undefined {
    const value = this.value.get(name)
    if (value === undefined || this.#read.includes(value.place)) return undefined
    this.#read.push(value.place)
    return value
  }

  takeKind(name: string, kind: JsonKind): JsonValue | undefined {
    const value = this.take(name)
    return value && expectKind(value, kind)
  }

  /** The decoded text of a string. */
  text(name: string): string | undefined {
    return this.takeKind(name, 'string')?.text
  }

  /** A string as JSON text, for text that is only copied. */
  literal(name: string): Uint8Array | undefined {
    return this.takeKind(name, 'string')?.json
  }

  /** A number as JSON text. */
  number(name: string): Uint8Array | undefined {
    return this.takeKind(name, 'number')?.json
  }

  /** A whole number that is not negative. */
  count(name: string): number | undefined {
    const value = this.takeKind(name, 'number')
    if (value === undefined) return undefined
    const { number } = value
    if (!Number.isSafeInteger(number) || number < 0) throw new Untranslatable(value, 'must be a whole number')
    return number
  }

  flag(name: string): boolean | undefined {
    return this.takeKind(name, 'boolean')?.isTrue
  }

  list(name: string): JsonValue | undefined {
    return this.takeKind(name, 'array')
  }

  /** A list that must have elements. */
  filledList(name: string): JsonValue {
    const value = this.require(name, this.list(name))
    if (value.children().next() === undefined) throw new Untranslatable(value, 'must not be empty')
    return value
  }

  object(name: string): ObjectReader | undefined {
    const value = this.take(name)
    return value && new ObjectReader(value)
  }

  /** One of several words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.takeKind(name, 'string')
    if (value === undefined) return undefined
    const word = words[words.indexOf(value.text as Word)]
    if (word === undefined) throw new Untranslatable(value, `must be one of ${words.join(', ')}`)
    return word
  }

  require<Value>(name: string, found: Value | undefined): Value {
    if (found === undefined) throw new Untranslatable(this.value, `${name} is required`)
    return found
  }

  /** Records the members that were not read. */
  drop(losses: Losses): void {
    this.value.dropExcept(this.#read, losses)
  }
}

const ARTICLES: Readonly<Record<JsonKind, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
}

export function expectKind(value: JsonValue, kind: JsonKind): JsonValue {
  if (value.kind !== kind) throw new Untranslatable(value, `must be ${ARTICLES[kind]}`)
  return value
}

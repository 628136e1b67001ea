import type { JsonValue } from '../json/json-document.ts'
import type { TextPlace } from './body-texts.ts'

/** A value and the values that contain it. */
export class Location {
  readonly parent: Location | undefined
  readonly value: JsonValue
  readonly #name: string | number

  /** @param name of a member, position of an element, or `{2}` for a member whose name is not public */
  constructor(value: JsonValue, parent?: Location, name: string | number = '') {
    this.value = value
    this.parent = parent
    this.#name = name
  }

  get path(): string {
    return this.pathBy((_, position) => position)
  }

  /** @param numberOf the number of an element, instead of its position */
  pathBy(numberOf: (element: JsonValue, position: number) => number): string {
    if (this.parent === undefined) return ''
    const before = this.parent.pathBy(numberOf)
    if (typeof this.#name === 'number') return `${before}[${numberOf(this.value, this.#name)}]`
    return before === '' || this.#name.startsWith('{') ? before + this.#name : `${before}.${this.#name}`
  }
}

/** A place whose path is put together when somebody reads it. */
export class WalkedPlace implements TextPlace {
  readonly start: number
  readonly end: number
  readonly form: TextPlace['form']
  readonly canChange: boolean
  readonly location: Location
  /** The name of a member, not its value. */
  readonly isName: boolean

  constructor(
    { start, end }: { start: number; end: number },
    location: Location,
    canChange: boolean,
    form: TextPlace['form'] = 'string',
    isName = false,
  ) {
    this.start = start
    this.end = end
    this.location = location
    this.canChange = canChange
    this.form = form
    this.isName = isName
  }

  /** The same place in another form. */
  as(form: TextPlace['form']): WalkedPlace {
    return new WalkedPlace(this, this.location, this.canChange, form, this.isName)
  }

  get path(): string {
    return this.isName ? `${this.location.path}:name` : this.location.path
  }
}

export function rangeOf({ place, end }: JsonValue): { start: number; end: number } {
  return { start: place, end }
}

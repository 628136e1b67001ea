import type { JsonChildren, JsonValue } from '../json/json-document.ts'
import type { TextPlace } from './body-texts.ts'

/** Names of members as interfaces define them. Others are text of a client, which paths do not show. */
const PUBLIC_NAME = /^\$?[A-Za-z_][A-Za-z_0-9-]{0,63}$/

/** The name of a member that a client chose. */
export const CHOSEN = ''

/** What happens to each child of a list or of an object. */
export type VisitChild = (child: JsonValue, children: JsonChildren) => void

/** The number of an element of a list in a path, by default its position. */
export type NumberOf = (element: JsonValue, position: number) => number

/** A value and the values that contain it. */
export class Location {
  readonly parent: Location | undefined
  readonly value: JsonValue
  readonly index: number
  readonly name: string | undefined

  /**
   * @param index position among the elements or members
   * @param name of a member; undefined for an element
   */
  constructor(value: JsonValue, parent?: Location, index = 0, name?: string) {
    this.value = value
    this.parent = parent
    this.index = index
    this.name = name
  }

  pathBy(numberOf: NumberOf): string {
    const { parent, value, index, name } = this
    return parent === undefined ? '' : stepPath(parent.pathBy(numberOf), name ?? numberOf(value, index), index)
  }
}

/** @param step the name of a member, or the number of an element */
function stepPath(before: string, step: string | number, index: number): string {
  if (typeof step === 'number') return `${before}[${step}]`
  if (!PUBLIC_NAME.test(step)) return `${before}{${index}}`
  return before === '' ? step : `${before}.${step}`
}

/** The location of a string, or of a name, in a path. A body may have very many: it does not keep the value. */
export class LeafLocation {
  readonly parent: Location | undefined
  readonly index: number
  readonly name: string | undefined

  constructor({ parent, index, name }: Location) {
    this.parent = parent
    this.index = index
    this.name = name
  }

  get path(): string {
    return this.pathBy((_, position) => position)
  }

  pathBy(numberOf: NumberOf): string {
    const { parent, index, name } = this
    return parent === undefined ? '' : stepPath(parent.pathBy(numberOf), name ?? index, index)
  }
}

/** A place whose path is put together when somebody reads it. */
export class WalkedPlace extends LeafLocation implements TextPlace {
  readonly start: number
  readonly end: number
  readonly form: TextPlace['form']
  readonly canChange: boolean
  /** The name of a member, not its value. */
  readonly isName: boolean

  constructor(
    { start, end }: { start: number; end: number },
    location: Location,
    canChange: boolean,
    form: TextPlace['form'] = 'string',
    isName = false,
  ) {
    super(location)
    this.start = start
    this.end = end
    this.canChange = canChange
    this.form = form
    this.isName = isName
  }

  /** With any other text, the place would be the same. */
  get isSteady(): boolean {
    return this.canChange && this.form !== 'logprobs'
  }

  override get path(): string {
    return this.isName ? `${super.path}:name` : super.path
  }
}

/** Its form depends on what the file contains. */
export class FilePlace extends WalkedPlace {
  readonly mediaType: string | undefined

  constructor(
    range: { start: number; end: number },
    location: Location,
    canChange: boolean,
    { form, mediaType }: { readonly form?: TextPlace['form']; readonly mediaType?: string | undefined } = {},
  ) {
    super(range, location, canChange, form)
    this.mediaType = mediaType
  }

  override get isSteady(): boolean {
    return false
  }
}

export function rangeOf({ place, end }: JsonValue): { start: number; end: number } {
  return { start: place, end }
}

/** The name of the member that was visited last. @param at of its value */
export function nameAt(children: JsonChildren, at: Location): WalkedPlace {
  return new WalkedPlace(children.key, at, false, 'string', true)
}

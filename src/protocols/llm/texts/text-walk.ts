import { Pace, type Steps } from '#base/in-slices.ts'
import { orderInSteps } from '#base/order-in-steps.ts'
import type { JsonChildren, JsonValue } from '../json/json-document.ts'
import { beginsArguments } from './argument-texts.ts'
import type { BodyTexts, ExemptPlace, TextRole, TextRun } from './body-texts.ts'
import { readTextFile } from './file-data.ts'
import { type SchemaWalk, walkSchema } from './schema-texts.ts'
import { roleNamed, roleOfItem } from './text-roles.ts'
import { type CompiledTable, elementNode, memberNode, type RunRole, type TableNode } from './text-table.ts'
import { ADDRESS, type Exemption, FILE, type FileTreatment, MEDIA, type SignedTreatment } from './treatments.ts'
import {
  CHOSEN,
  FilePlace,
  LeafLocation,
  Location,
  nameAt,
  rangeOf,
  type VisitChild,
  WalkedPlace,
} from './walked-place.ts'

class WalkedExemption extends LeafLocation implements ExemptPlace {
  readonly reason: string

  constructor(location: Location, reason: string) {
    super(location)
    this.reason = reason
  }
}

/** The texts of a run while it is read. */
class Run {
  readonly role: TextRole
  readonly texts: WalkedPlace[] = []
  readonly others: WalkedPlace[] = []
  /** Strings that the table does not mention. */
  readonly unknown: WalkedPlace[] = []

  constructor(role: TextRole) {
    this.role = role
  }
}

/** A list or an object some of whose children have been visited. */
interface OpenValue {
  readonly children: JsonChildren
  readonly visit: VisitChild
  after: (() => void) | undefined
}

/** Base64, perhaps in a data URL. Other texts with such a name are texts. */
const ENCODED_FILE = /^(?:data:[^,\s]{0,256},)?[\w+/=-]+$/

/** The work for a value, in characters. */
const WORK_PER_VALUE = 128
/** The work for a run, and for a place in it, that are put into lists, in characters. */
const WORK_PER_RUN = 32
const WORK_PER_PLACE = 4

/** Visits every string of a body. */
export class TextWalk {
  readonly #table: CompiledTable
  readonly #runs: Run[] = []
  readonly #exempt: ExemptPlace[] | undefined
  readonly #pace = new Pace()
  /** Outermost first. Bodies may be large, so the walk yields between any two values. */
  readonly #open: OpenValue[] = []
  #run = new Run('user')
  readonly #schemas: SchemaWalk = {
    each: (value, visit) => this.#each(value, visit),
    report: (place) => this.#run.others.push(place),
  }

  /** @param exempt receives what no guard checks */
  constructor(table: CompiledTable, exempt: ExemptPlace[] | undefined) {
    this.#table = table
    this.#exempt = exempt
  }

  *walk(body: JsonValue): Steps<void> {
    const { first } = this.#table
    const origin = new Location(body)
    if (body.kind !== 'object') {
      this.#within(new Run('user'), () => this.#visit(body, this.#table.root, origin))
      return yield* this.#visitOpen()
    }
    if (first.length > 0) {
      const early: { name: string; at: Location }[] = []
      for (const { name, at } of this.#membersOf(body, origin)) {
        if (first.includes(name)) early.push({ name, at })
        if (this.#pace.after(WORK_PER_VALUE)) yield
      }
      early.sort((one, other) => first.indexOf(one.name) - first.indexOf(other.name))
      for (const { name, at } of early) yield* this.#visitTop(name, at)
    }
    for (const { name, at } of this.#membersOf(body, origin)) {
      if (!first.includes(name)) yield* this.#visitTop(name, at)
    }
  }

  *#membersOf(body: JsonValue, origin: Location): Generator<{ name: string; at: Location }> {
    const children = body.children()
    for (let value = children.next(); value !== undefined; value = children.next()) {
      const { name, index } = children
      yield { name, at: new Location(value, origin, index, name) }
    }
  }

  *#visitTop(name: string, at: Location): Steps<void> {
    this.#within(new Run('user'), () => this.#visit(at.value, memberNode(this.#table, this.#table.root, name), at))
    yield* this.#visitOpen()
  }

  *#visitOpen(): Steps<void> {
    const open = this.#open
    for (;;) {
      if (this.#pace.after(WORK_PER_VALUE)) yield
      const last = open.at(-1)
      if (last === undefined) return
      const child = last.children.next()
      if (child !== undefined) last.visit(child, last.children)
      else {
        open.pop()
        last.after?.()
      }
    }
  }

  /** Yields between places. */
  *texts(): Steps<BodyTexts> {
    const runs: TextRun[] = []
    for (const { role, texts, others, unknown } of this.#runs) {
      if (this.#pace.after(WORK_PER_RUN)) yield
      if (texts.length > 0) runs.push({ role, joins: true, places: texts })
      const alone = unknown.length === 0 ? others : [...others, ...unknown]
      if (alone.length === 0) continue
      runs.push({ role, joins: false, places: yield* orderInSteps(alone, this.#pace) })
    }
    return { runs }
  }

  /** All places in the order of the bytes. Yields between them. */
  *places(): Steps<readonly WalkedPlace[]> {
    const all: WalkedPlace[] = []
    for (const { texts, others, unknown } of this.#runs) {
      for (const places of [texts, others, unknown]) {
        for (const place of places) {
          all.push(place)
          if (this.#pace.after(WORK_PER_PLACE)) yield
        }
      }
    }
    return yield* orderInSteps(all, this.#pace)
  }

  #each(value: JsonValue, visit: VisitChild): void {
    this.#open.push({ children: value.children(), visit, after: undefined })
  }

  /** Begins with a value; `after` runs when all that is in it has been visited. */
  #then(begin: () => void, after: () => void): void {
    const open = this.#open
    const { length } = open
    begin()
    const opened = open[length]
    if (opened === undefined) return after()
    const inner = opened.after
    opened.after =
      inner === undefined
        ? after
        : () => {
            inner()
            after()
          }
  }

  #within(run: Run, read: () => void): void {
    const around = this.#run
    this.#run = run
    this.#runs.push(this.#run)
    this.#then(read, () => {
      this.#run = around
    })
  }

  #visit(value: JsonValue, node: TableNode | undefined, at: Location): void {
    if (node?.role === undefined) return this.#treat(value, node, at)
    this.#within(runOf(node.role, value), () => this.#treat(value, node, at))
  }

  #treat(value: JsonValue, node: TableNode | undefined, at: Location): void {
    const treatment = node?.treatment
    if (treatment === undefined) return this.#default(value, node, at)
    switch (treatment.kind) {
      case 'text':
        if (value.kind === 'string') this.#run.texts.push(new WalkedPlace(rangeOf(value), at, true))
        else if (value.kind === 'number') this.#token(value, at)
        else this.#default(value, node, at)
        return
      case 'visible':
        return this.#default(value, node, at)
      case 'part':
        return this.#part(value, node, at)
      case 'fixed':
        return this.#json(value, at, false)
      case 'signed':
        return this.#signed(value, at, treatment)
      case 'json':
        return this.#json(value, at, true)
      case 'arguments':
        return this.#arguments(value, at)
      case 'schema':
        return walkSchema(value, at, this.#schemas)
      case 'logprobs':
        if (isCompound(value)) this.#run.others.push(new WalkedPlace(rangeOf(value), at, true, 'logprobs'))
        return
      case 'file':
        return this.#file(value, node, at, treatment)
      case 'exempt':
        if (treatment === ADDRESS && /^\s*data:/i.test(value.beginning)) return this.#file(value, node, at, FILE)
        return this.#exemption(value, node, at, treatment)
    }
  }

  /** Everything inside is visible, unless the table says otherwise. Names of members are those of the interface where the table goes on. */
  #default(value: JsonValue, node: TableNode | undefined, at: Location): void {
    const into = node?.treatment === undefined ? this.#run.unknown : this.#run.others
    if (value.kind === 'string') {
      const file = node === undefined ? unknownFile(value, at.name, at) : undefined
      into.push(file ?? new WalkedPlace(rangeOf(value), at, true))
    } else if (value.kind === 'array') {
      const inner = node && elementNode(node)
      this.#each(value, (element, { index }) => this.#visit(element, inner, new Location(element, at, index)))
    } else if (node === undefined) this.#json(value, at, true, into)
    else if (value.kind === 'object') {
      this.#each(value, (member, children) => {
        const { name, index } = children
        const known = node.members.has(name) || node.other === undefined
        const inner = new Location(member, at, index, known ? name : CHOSEN)
        // The name of a variable, which the client chose.
        if (!known) this.#run.others.push(nameAt(children, inner))
        this.#visit(member, memberNode(this.#table, node, name), inner)
      })
    }
  }

  /** What is unknown in a part without known text is its text. */
  #part(value: JsonValue, node: TableNode | undefined, at: Location): void {
    const { texts, unknown, others } = this.#run
    const [known, from] = [texts.length, unknown.length]
    if (value.kind === 'string') return void texts.push(new WalkedPlace(rangeOf(value), at, true))
    if (value.kind === 'number') return this.#token(value, at)
    this.#then(
      () => this.#default(value, node, at),
      () => {
        const found = unknown.splice(from)
        const isText = texts.length === known
        for (const place of found) (isText && place.canChange ? texts : others).push(place)
      },
    )
  }

  #signed(value: JsonValue, at: Location, { by, joins }: SignedTreatment): void {
    const { texts, others } = this.#run
    const isSigned = (at.parent!.value.get(by)?.text ?? '') !== ''
    this.#json(value, at, !isSigned, joins && value.kind === 'string' ? texts : others)
  }

  #token(value: JsonValue, at: Location): void {
    this.#run.texts.push(new WalkedPlace(rangeOf(value), at, false, 'number'))
  }

  #json(value: JsonValue, at: Location, canChange: boolean, into = this.#run.others): void {
    if (value.kind === 'string') into.push(new WalkedPlace(rangeOf(value), at, canChange))
    else if (value.kind === 'array') {
      this.#each(value, (element, { index }) => this.#json(element, new Location(element, at, index), canChange, into))
    } else if (value.kind === 'object') {
      this.#each(value, (member, children) => {
        const inner = new Location(member, at, children.index, CHOSEN)
        into.push(nameAt(children, inner))
        const file = canChange ? unknownFile(member, children.name, inner) : undefined
        if (file === undefined) this.#json(member, inner, canChange, into)
        else into.push(file)
      })
    }
  }

  /** JSON in a string. What turns out to be other text is checked as such: a model may have written half an object. */
  #arguments(value: JsonValue, at: Location): void {
    if (value.kind !== 'string') return this.#json(value, at, true)
    const form = beginsArguments(value.beginning) ? 'arguments' : 'string'
    this.#run.others.push(new WalkedPlace(rangeOf(value), at, true, form))
  }

  #file(value: JsonValue, node: TableNode | undefined, at: Location, { mediaType }: FileTreatment): void {
    if (value.kind !== 'string') return this.#default(value, node, at)
    const holder = at.parent!.value
    const texts = this.#run.texts
    if (holder.get('type')?.text === 'text') return void texts.push(new FilePlace(rangeOf(value), at, true))
    const { text } = value
    const type = mediaType === undefined ? undefined : holder.get(mediaType)?.text
    const file = readTextFile(text, type)
    if (typeof file === 'object') {
      texts.push(new FilePlace(rangeOf(value), at, !file.isDamaged, { form: 'base64', mediaType: type }))
    } else if (/^(?:https?|gs|s3):/i.test(text)) this.#exemption(value, node, at, ADDRESS)
    else if (file === undefined) this.#exempt?.push(new WalkedExemption(at, MEDIA.reason))
    else texts.push(new FilePlace(rangeOf(value), at, true))
  }

  /** An exemption with a shape is one of strings. */
  #exemption(value: JsonValue, node: TableNode | undefined, at: Location, { reason, shape }: Exemption): void {
    if (value.kind === 'string' || shape === undefined) {
      if (shape?.test(value.text) === false) this.#json(value, at, false)
      else if (isCompound(value) || value.kind === 'string') this.#exempt?.push(new WalkedExemption(at, reason))
    } else this.#default(value, node, at)
  }
}

/** A text file in a member that no table knows, such as those of another interface. Undefined: it is none. */
function unknownFile(value: JsonValue, name: string | undefined, at: Location): FilePlace | undefined {
  if (value.kind !== 'string' || (name !== 'file_data' && name !== 'data')) return undefined
  const mediaType = name === 'data' ? at.parent!.value.get('media_type')?.text : undefined
  const { text } = value
  if ((name === 'data' && mediaType === undefined) || !ENCODED_FILE.test(text)) return undefined
  const file = readTextFile(text, mediaType)
  if (typeof file !== 'object') return undefined
  return new FilePlace(rangeOf(value), at, !file.isDamaged, { form: 'base64', mediaType })
}

function isCompound({ kind }: JsonValue): boolean {
  return kind === 'array' || kind === 'object'
}

function runOf(role: RunRole, value: JsonValue): Run {
  const given = value.get('role')?.text
  if (role === 'role') return new Run(roleNamed(given ?? 'user'))
  return new Run(role === 'item' ? roleOfItem(given, value.get('type')?.text) : role)
}

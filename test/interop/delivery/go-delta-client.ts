import { join } from 'node:path'
import { ITEM_TYPE, PLAN_TYPES, SNAPSHOT } from '#deliver/plan-resource.ts'
import { builtGoProgram } from '../counterparts.ts'
import { LineProgram } from './line-program.ts'
import { TOKEN } from './served-objects.ts'

interface Open {
  readonly token?: string
  readonly deadlineMs?: number
  readonly maxBytes?: number
  readonly compressed?: boolean
  readonly unread?: boolean
  readonly headerBytes?: number
}

interface Request {
  readonly type: string
  readonly subscribe?: readonly string[]
  readonly unsubscribe?: readonly string[]
  readonly versions?: Readonly<Record<string, string>>
  readonly nonce?: string
  readonly error?: string
}

interface ClientEvent {
  readonly stream: number
  readonly type?: string
  readonly nonce?: string
  readonly resources?: Readonly<Record<string, string>>
  readonly removed?: readonly string[]
  /** Resources whose version is not the SHA-256 of their bytes, or whose type is not that of the response. */
  readonly wrong?: readonly string[]
  readonly bytes?: number
  readonly end?: string
}

type Command = { readonly open: Open } | { readonly ask: Request } | { readonly read: true } | { readonly close: true }

/** A client of grpc-go in a process of its own. */
export class GoDeltaClient extends LineProgram<Command, ClientEvent> {
  #streams = 0
  /** Events before the last one that was returned. */
  #seen = 0

  constructor(stops: AsyncDisposableStack, port: number, ...words: readonly string[]) {
    const program = builtGoProgram(join(import.meta.dirname, 'go'), 'delta-client')
    super(program, ['-address', `127.0.0.1:${port}`, ...words])
    stops.use(this)
  }

  open(how: Open = {}): void {
    this.#streams++
    this.tell({ open: { token: TOKEN, ...how } })
  }

  ask(type: string, more: Omit<Request, 'type'> = {}): void {
    this.tell({ ask: { type, ...more } })
  }

  /** The next event of the last stream. */
  async next(what: string): Promise<ClientEvent> {
    const event = await this.until(what, ({ stream }) => stream === this.#streams, this.#seen)
    this.#seen = this.events.indexOf(event) + 1
    return event
  }

  acknowledge({ type, nonce, end }: ClientEvent, error?: string): void {
    if (type === undefined) throw new Error(`the stream ended: ${end}`)
    this.ask(type, { nonce: nonce!, ...(error !== undefined && { error }) })
  }

  /** Opens a stream, asks for both types, and acknowledges. @returns versions by type */
  async takeAll(how: Open = {}): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
    this.open(how)
    for (const type of PLAN_TYPES) this.ask(type)
    const all = new Map<string, Record<string, string>>(PLAN_TYPES.map((type) => [type, {}]))
    for (let whole = 0; whole < PLAN_TYPES.length; ) {
      const event = await this.next('a response')
      this.acknowledge(event)
      Object.assign(all.get(event.type!)!, event.resources)
      if (SNAPSHOT in event.resources!) whole++
    }
    return all
  }

  /** How a stream ends that begins like this. */
  async endOf(how: Open, type: string = ITEM_TYPE): Promise<string | undefined> {
    this.open(how)
    this.ask(type)
    return (await this.next('the end')).end
  }
}

export function namesOf({ resources = {} }: ClientEvent): readonly string[] {
  return Object.keys(resources).sort()
}

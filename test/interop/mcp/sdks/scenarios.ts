import { setTimeout as wait } from 'node:timers/promises'

/** What every pair of client and server is asked. */
export const SCENARIOS = ['list', 'call', 'elicitation', 'sampling', 'progress', 'cancel', 'resume'] as const

export type Scenario = (typeof SCENARIOS)[number]

/** How each scenario ended: `ok`, why it failed, or `-` and why the client cannot do it. */
export type Outcomes = Readonly<Record<Scenario, string>>

/** Of a server: `http://127.0.0.1:PORT/PATH`, and what stands before the names and URIs of its items. */
export interface Endpoint {
  readonly url: string
  /** The name of the target behind a backend of several; undefined: names are as the server has them. */
  readonly target?: string
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: number) => void
}

/** A connection of a client in TypeScript. It answers elicitation with the name Ada and sampling with the text `hi`. */
export interface PairSession {
  tools(): Promise<readonly string[]>
  resources(): Promise<readonly string[]>
  prompts(): Promise<readonly string[]>
  read(uri: string): Promise<string>
  prompt(name: string): Promise<string>
  /** @returns the text of the result */
  call(tool: string, values: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<string>
  close(): Promise<void>
}

const SCENARIO_LIMIT_MS = 25_000

/** Runs the scenarios at once, each on a connection of its own. */
export async function runScenarios(
  open: () => Promise<PairSession>,
  { target }: Endpoint,
  cannot: Partial<Outcomes> = {},
): Promise<Outcomes> {
  const outcome = async (scenario: Scenario) =>
    [scenario, cannot[scenario] ?? (await outcomeOf(open, SCENARIO_CHECKS[scenario], target))] as const
  return Object.fromEntries(await Promise.all(SCENARIOS.map(outcome))) as unknown as Outcomes
}

async function outcomeOf(open: () => Promise<PairSession>, check: Check, target: string | undefined): Promise<string> {
  const late = wait(SCENARIO_LIMIT_MS, 'no end within 25 s', { ref: false })
  const run = async () => {
    const session = await open()
    try {
      await check(session, target)
      return 'ok'
    } finally {
      await session.close().catch(() => undefined)
    }
  }
  return Promise.race([run().catch(explain), late])
}

const explain = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n')[0]!

type Check = (session: PairSession, target: string | undefined) => Promise<void>

const named = (target: string | undefined, name: string) => (target === undefined ? name : `${target}_${name}`)
const located = (target: string | undefined, uri: string) => (target === undefined ? uri : `${target}+${uri}`)

const SCENARIO_CHECKS: Readonly<Record<Scenario, Check>> = {
  async list(session, target) {
    includes(await session.tools(), named(target, 'add'))
    includes(await session.resources(), located(target, 'note://one'))
    includes(await session.prompts(), named(target, 'greet'))
    equals(await session.read(located(target, 'note://one')), 'one')
    equals(await session.prompt(named(target, 'greet')), 'Hello')
  },
  async call(session, target) {
    equals(await session.call(named(target, 'add'), { a: 2, b: 3 }), '5')
  },
  async elicitation(session, target) {
    equals(await session.call(named(target, 'ask'), {}), 'hello Ada')
  },
  async sampling(session, target) {
    equals(await session.call(named(target, 'sample'), {}), 'model said hi')
  },
  async progress(session, target) {
    const seen: number[] = []
    equals(await session.call(named(target, 'count'), {}, { onProgress: (at) => void seen.push(at) }), 'counted')
    equals(seen.join(), '1,2,3')
  },
  async cancel(session, target) {
    const count = async () => Number(await session.call(named(target, 'cancellations'), {}))
    const before = await count()
    // On a busy machine the call may be cancelled before it has begun.
    for (const delayMs of [300, 1_000, 3_000]) {
      const leave = new AbortController()
      const call = session.call(named(target, 'wait'), {}, { signal: leave.signal })
      const isOver = await Promise.race([wait(delayMs, false), call.then(() => true)])
      if (isOver) throw new Error('the call ended before it was cancelled')
      leave.abort()
      await call.catch(() => undefined)
      for (let i = 0; i < 20; i++) {
        if ((await count()) > before) return
        await wait(Math.min(100, 10 * (i + 1)))
      }
    }
    throw new Error('the server was not told')
  },
  async resume(session, target) {
    equals(await session.call(named(target, 'later'), {}), 'resumed')
  },
}

function equals(seen: string, expected: string): void {
  if (seen !== expected) throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`)
}

function includes(seen: readonly string[], expected: string): void {
  if (!seen.includes(expected)) throw new Error(`no ${expected} among ${seen.join(', ') || 'nothing'}`)
}

import { escapeInvisible } from '#base/visible-text.ts'

/** The steps of a sign-in, in order, in words. */
const STEPS = {
  probe: 'request without a token',
  challenge: 'challenge',
  resource: 'metadata of the resource',
  server: 'metadata of the authorization server',
  pkce: 'PKCE',
  registration: 'registration of the client',
  redirect: 'sign-in in the browser',
  token: 'token',
  audience: 'audience of the token',
  session: 'tools, with a session',
  stateless: 'tools, without a session',
} as const

export type StepName = keyof typeof STEPS

/** `note`: the step works, but not for every client. `skipped`: it was not needed, or not reached. */
export type Verdict = 'ok' | 'note' | 'failed' | 'skipped'

export interface StepReport {
  readonly step: StepName
  readonly verdict: Verdict
  /** What was found. */
  readonly detail: string
  /** What to change. */
  readonly change?: string
}

/** Collects what a walk finds. Secrets that it has met are hidden in all texts. */
export class Report {
  readonly #steps = new Map<StepName, StepReport>()
  readonly #secrets: string[] = []

  ok(step: StepName, detail: string): void {
    this.#add({ step, verdict: 'ok', detail })
  }

  note(step: StepName, detail: string, change: string): void {
    this.#add({ step, verdict: 'note', detail, change })
  }

  skip(step: StepName, detail: string): void {
    this.#add({ step, verdict: 'skipped', detail })
  }

  /** @returns undefined, as the result of a step that failed */
  fail(step: StepName, detail: string, change: string): undefined {
    this.#add({ step, verdict: 'failed', detail, change })
    return undefined
  }

  /** A text that no output may contain from now on. */
  hide(secret: string | undefined): void {
    if (secret) this.#secrets.push(secret)
  }

  get failed(): boolean {
    return this.steps.some(({ verdict }) => verdict === 'failed')
  }

  /** All steps in order. */
  get steps(): readonly StepReport[] {
    return (Object.keys(STEPS) as StepName[]).map((step) => {
      const { detail, change, verdict } = this.#steps.get(step) ?? { verdict: 'skipped', detail: 'not reached' }
      return {
        step,
        verdict,
        detail: this.#clean(detail),
        ...(change !== undefined && { change: this.#clean(change) }),
      }
    })
  }

  #add(report: StepReport): void {
    this.#steps.set(report.step, report)
  }

  #clean(text: string): string {
    const hidden = this.#secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text)
    // A server must not write lines of its own.
    const clean = escapeInvisible(hidden)
    return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}...` : clean
  }
}

/** Texts may be those of servers. They are cut only without secrets, of which a part would remain. */
const MAX_TEXT = 500

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok', note: 'note', failed: 'FAIL', skipped: '-' }
const MARK_WIDTH = 6
const NAME_WIDTH = Math.max(...Object.values(STEPS).map(({ length }) => length)) + 2

/** For people: a line for each step, and below it what to change. */
export function reportLines({ steps }: Report): readonly string[] {
  return steps.flatMap(({ step, verdict, detail, change }) => [
    `${MARKS[verdict].padEnd(MARK_WIDTH)}${STEPS[step].padEnd(NAME_WIDTH)}${detail}`,
    ...(change === undefined ? [] : [`${' '.repeat(MARK_WIDTH)}${change}`]),
  ])
}

import type { Answer } from './answer.ts'
import { textAnswer } from './answer.ts'

const DEFAULT_SECONDS = 10
const MAX_SECONDS = 60
const PARAMETERS = ['worker', 'seconds']

/** `busy`: another profile is being recorded. */
export type ProfileOutcome =
  | { readonly kind: 'profile'; readonly text: string }
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly cause: string }

export interface ProfileSource {
  /** Names of the workers that run. */
  readonly workers: () => readonly string[]
  readonly record: (worker: string, kind: 'cpu' | 'heap', durationMs: number) => Promise<ProfileOutcome>
}

/** Records a profile of one worker: `worker` (default: the first) and `seconds` (default 10, at most 60). */
export async function answerProfile(
  kind: 'cpu' | 'heap',
  { workers, record }: ProfileSource,
  query: URLSearchParams,
): Promise<Answer> {
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) return textAnswer(400, `unknown parameter; use ${PARAMETERS.join(', ')}`)
  const seconds = query.get('seconds') ?? String(DEFAULT_SECONDS)
  if (!/^[1-9]\d?$/.test(seconds) || Number(seconds) > MAX_SECONDS) {
    return textAnswer(400, `seconds must be a number from 1 to ${MAX_SECONDS}`)
  }
  const names = workers()
  const worker = query.get('worker') ?? names[0]
  if (worker === undefined || !names.includes(worker))
    return textAnswer(400, `worker must be one of ${names.join(', ')}`)
  const outcome = await record(worker, kind, Number(seconds) * 1000)
  if (outcome.kind === 'busy')
    return textAnswer(409, 'another profile is being recorded; only one is recorded at a time')
  if (outcome.kind === 'failed') return textAnswer(503, `no profile of ${worker}: ${outcome.cause}`)
  const name = `${worker}.${kind}profile`
  return {
    status: 200,
    contentType: 'application/json',
    body: outcome.text,
    headers: { 'content-disposition': `attachment; filename="${name}"` },
  }
}

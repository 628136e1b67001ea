import type { Attempt } from '#exchange/exchange.ts'
import type { DefaultField } from './default-fields.ts'

/** What the attempts of a request say in its line: why the last one failed, and what was sent again although it may have worked. */
export function writeAttempts(
  attempts: readonly Attempt[],
  text: (name: DefaultField, value: string | undefined) => void,
): void {
  const replays = attempts.flatMap(({ replayed }) => replayed ?? [])
  text('retry.replayed', [...new Set(replays)].join(','))
  // The last one was not sent again.
  if (attempts.slice(0, -1).some(({ maybeProcessed }) => maybeProcessed)) text('retry.maybe_processed', 'true')
  text('upstream.failure', attempts.at(-1)?.failure)
}

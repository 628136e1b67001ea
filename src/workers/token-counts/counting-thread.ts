import { constants, setPriority } from 'node:os'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { clock } from '#base/clock.ts'
import type { Vocabulary } from '#exchange/token-counter.ts'

/** Entry of the thread that counts tokens for all proxy workers. Each of them sends its questions to a port of its own. */

export interface CountQuestion {
  readonly id: number
  readonly vocabulary: Vocabulary
  readonly texts: readonly string[]
  /** Monotonic milliseconds after which nobody waits for the answer. */
  readonly untilMs: number
}

export interface CountAnswer {
  readonly id: number
  readonly tokens: number
}

type CountTokens = (text: string, options: { disallowedSpecial: Set<string> }) => number

/** Names of special tokens in a text are text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }

const loaded = new Map<Vocabulary, Promise<CountTokens>>()

async function load(vocabulary: Vocabulary): Promise<CountTokens> {
  const { countTokens } =
    vocabulary === 'o200k'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base')
  return countTokens
}

async function answer(port: MessagePort, { id, vocabulary, texts, untilMs }: CountQuestion): Promise<void> {
  let pending = loaded.get(vocabulary)
  if (pending === undefined) {
    pending = load(vocabulary)
    loaded.set(vocabulary, pending)
  }
  const countTokens = await pending
  let tokens = 0
  for (const text of texts) {
    if (clock.monotonic() > untilMs) return
    tokens += countTokens(text, AS_TEXT)
  }
  port.postMessage({ id, tokens } satisfies CountAnswer)
}

// On Linux, a thread has its own priority. This one yields to the threads that serve requests.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort!.on('message', (port: MessagePort) =>
  // A vocabulary that cannot be loaded ends the thread; the main thread logs why.
  port.on('message', (question: CountQuestion) => void answer(port, question)),
)

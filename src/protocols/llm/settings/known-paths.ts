import type { LlmInterface } from '#exchange/llm-facts.ts'
import type { RouteType } from './policy-schema.ts'
import { suffixPathOf } from './suffix-path.ts'

/** Paths of the public LLM interfaces other than chat completions, by their ends, each with the route type for it. */
const OTHER_PATHS: readonly (readonly [end: string, type: RouteType])[] = [
  ['/messages', 'Messages'],
  ['/messages/count_tokens', 'MessagesTokenCount'],
  ['/responses', 'Responses'],
  ['/embeddings', 'Embeddings'],
  ['/models', 'Models'],
  ['/realtime', 'Realtime'],
  ...[
    ...['/completions', '/images/generations', '/images/edits', '/images/variations', '/audio/speech'],
    ...['/responses/compact', '/responses/input_tokens', '/conversations'],
    ...['/realtime/client_secrets', '/realtime/sessions', '/realtime/calls'],
    ...['/audio/transcriptions', '/audio/translations', '/moderations', '/rerank', '/files', '/batches'],
  ].map((end) => [end, 'Passthrough'] as const),
]

const COMPLETIONS = '/chat/completions'

/** The interface that a path belongs to if it is not chat completions. @param target path, or path and query */
export function otherInterface(target: string): LlmInterface | undefined {
  // The usual case, without another look at the path.
  if (target.endsWith(COMPLETIONS)) return undefined
  const path = suffixPathOf(target)
  if (path.endsWith(COMPLETIONS)) return undefined
  for (const [end, type] of OTHER_PATHS) if (path.endsWith(end)) return { end, type }
  return undefined
}

/** A call beside the answers of models. No route type reads it. */
export interface UnreadCall {
  /** The format of errors that its clients know. */
  readonly type: 'Completions' | 'Messages' | 'Responses'
  /** The key in `routes` whose entry can forward it. A path that ends with an id is of `*` alone. */
  readonly key: string
}

const UNREAD: readonly (readonly [path: RegExp, type: UnreadCall['type']])[] = [
  [/\/responses\/(?:compact|input_tokens)$/, 'Responses'],
  [/\/messages\/batches$/, 'Messages'],
  [/\/responses\/[^/]+(\/cancel|\/input_items|)$/, 'Responses'],
  [/\/messages\/batches\/[^/]+(\/cancel|\/results|)$/, 'Messages'],
  [/\/chat\/completions\/[^/]+(\/messages|)$/, 'Completions'],
]

/** @param target path, or path and query */
export function unreadCall(target: string): UnreadCall | undefined {
  const path = suffixPathOf(target)
  for (const [pattern, type] of UNREAD) {
    const found = pattern.exec(path)
    if (found !== null) return { type, key: (found[1] ?? found[0]) || '*' }
  }
  return undefined
}

/** Ends of paths whose requests have texts for a model. */
export const TEXT_PATHS: readonly string[] = [
  COMPLETIONS,
  ...OTHER_PATHS.map(([end]) => end).filter((end) => end !== '/models' && end !== '/files'),
]

import type { StopReason } from './answer-sink.ts'

/** The stop reasons of the dialects. Unknown words of a provider mean a normal end. */
const COMPLETIONS_READ: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'refusal',
}

const COMPLETIONS_WRITTEN = {
  end: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  context: 'length',
  calls: 'tool_calls',
  refusal: 'content_filter',
  pause: 'stop',
} as const satisfies Readonly<Record<StopReason, string>>

const MESSAGES_READ: Readonly<Record<string, StopReason>> = {
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  tool_use: 'calls',
  refusal: 'refusal',
  pause_turn: 'pause',
}

const MESSAGES_WRITTEN = {
  end: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  context: 'model_context_window_exceeded',
  calls: 'tool_use',
  refusal: 'refusal',
  pause: 'pause_turn',
} as const satisfies Readonly<Record<StopReason, string>>

const CONVERSE_READ: Readonly<Record<string, StopReason>> = {
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  tool_use: 'calls',
  content_filtered: 'refusal',
  guardrail_intervened: 'refusal',
}

/** Responses have a status instead, with the reason of an incomplete one. */
const INCOMPLETE_WRITTEN = {
  end: undefined,
  'stop-sequence': undefined,
  length: 'max_output_tokens',
  context: 'max_output_tokens',
  calls: undefined,
  refusal: 'content_filter',
  pause: undefined,
} as const satisfies Readonly<Record<StopReason, string | undefined>>

export const STOP_REASONS = {
  completions: { read: (word: string) => readIn(COMPLETIONS_READ, word), written: COMPLETIONS_WRITTEN },
  messages: { read: (word: string) => readIn(MESSAGES_READ, word), written: MESSAGES_WRITTEN },
  converse: { read: (word: string) => readIn(CONVERSE_READ, word) },
  responses: { incomplete: INCOMPLETE_WRITTEN },
} as const

function readIn(table: Readonly<Record<string, StopReason>>, word: string): StopReason {
  return Object.hasOwn(table, word) ? table[word]! : 'end'
}

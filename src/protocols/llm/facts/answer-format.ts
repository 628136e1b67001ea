import type { LlmFacts } from '#exchange/llm-facts.ts'
import { type WantedMembers, wantedMembers } from '../json/member-reader.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { noteNames, noteTier } from './note-names.ts'

/** How facts and the output of the model are read from a whole answer. */
export interface AnswerFormat {
  /** Members with facts. */
  readonly facts: WantedMembers
  /** Members with output of the model. */
  readonly output: WantedMembers
  /** Both; a member with output is read whole. */
  readonly factsAndOutput: WantedMembers
  /** A reader of facts for one answer. */
  readonly reader: () => ReadMember
  /** Readers of the members with output. */
  readonly outputs: Readonly<Record<string, OutputMember>>
}

type ReadMember = (path: string, value: unknown, facts: LlmFacts) => void

export interface OutputMember {
  keep(value: unknown, kept: KeptAnswer): void
  /** Notes the facts inside the output, which have paths of their own where only facts are read. */
  note?(value: unknown, facts: LlmFacts): void
}

export type ReadFact = (value: unknown, facts: LlmFacts) => void

/** @param facts paths of the members with facts */
export function answerFormat(
  facts: readonly string[],
  outputs: AnswerFormat['outputs'],
  reader: AnswerFormat['reader'],
): AnswerFormat {
  const output = Object.keys(outputs)
  const outside = facts.filter((path) => !output.some((member) => path.startsWith(`${member}[`)))
  return {
    facts: wantedMembers(facts),
    output: wantedMembers(output),
    factsAndOutput: wantedMembers([...outside, ...output]),
    reader,
    outputs,
  }
}

/**
 * An answer with an id, a model, a service tier and usage.
 * @param usage makes a reader of the usage of one answer
 * @param finish readers of the members that say why the model stopped, by path
 */
export function generatedAnswer(
  usage: () => ReadFact,
  outputs: AnswerFormat['outputs'] = {},
  finish: Readonly<Record<string, ReadFact>> = {},
): AnswerFormat {
  const reader = (): ReadMember => {
    const readUsage = usage()
    return (path, value, facts) => {
      if (path === 'usage') return readUsage(value, facts)
      if (Object.hasOwn(finish, path)) return finish[path]!(value, facts)
      if (typeof value !== 'string') return
      if (path === 'id') noteNames(value, undefined, facts)
      if (path === 'model') noteNames(undefined, value, facts)
      if (path === 'service_tier') noteTier(value, facts)
    }
  }
  return answerFormat(['id', 'model', 'usage', 'service_tier', 'error', ...Object.keys(finish)], outputs, reader)
}

import { ANSWER_TEXTS } from '../texts/dialect-texts.ts'

/** The formats whose answers have texts. */
export type GuardedFormat = keyof typeof ANSWER_TEXTS

export function isGuardedFormat(type: string): type is GuardedFormat {
  return Object.hasOwn(ANSWER_TEXTS, type)
}

import type { ApiObject } from '#api/object.ts'
import type { Translation } from './translation.ts'
import { type TranslateOptions, Translator } from './translator.ts'

/**
 * Translates objects to the plan, the statuses and the findings. Pure; the order of the objects does not affect the result.
 * @param objects valid objects, at most one for each kind, namespace and name
 */
export function translate(objects: readonly ApiObject[], options: TranslateOptions = {}): Translation {
  const translator = new Translator(options)
  translator.apply({ set: objects, removed: [] })
  return translator.translation
}

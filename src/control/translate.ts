import type { ApiObject } from '#api/object.ts'
import type { Translation } from './translation.ts'
import { type TranslateOptions, Translator } from './translator.ts'

/**
 * Turns all objects into the plan, the statuses and the findings. Pure: the same objects, in whatever order, give the same result.
 * @param objects valid ones, at most one for each kind, namespace and name
 */
export function translate(objects: readonly ApiObject[], options: TranslateOptions = {}): Translation {
  const translator = new Translator(options)
  translator.apply({ set: objects, removed: [] })
  return translator.translation
}

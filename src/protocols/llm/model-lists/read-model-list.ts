import { parseJson } from '#base/parse-json.ts'
import { countAt, elementsOf, memberOf, textAt } from '../json/read-value.ts'
import type { ListedModel } from './listed-model.ts'

/** Further models of a provider are left out. */
const MAX_MODELS = 2000
/** Models with longer names are left out. */
const MAX_NAME_LENGTH = 256
const CONTROL = /\p{Cc}/u

/**
 * Reads the list of a provider, in the form of the chat API or of the messages API.
 * @param owner of models whose owner the list does not say
 * @returns undefined if it is no list
 */
export function readModelList(text: string, owner: string): readonly ListedModel[] | undefined {
  let list: unknown
  try {
    list = parseJson(text)
  } catch {
    return undefined
  }
  const data = memberOf(list, 'data')
  if (!Array.isArray(data)) return undefined
  return elementsOf(data)
    .slice(0, MAX_MODELS)
    .flatMap((entry) => readModel(entry, owner) ?? [])
}

function readModel(entry: unknown, owner: string): ListedModel | undefined {
  // Gemini says which kind of resource it is, but requests need no such prefix.
  const id = nameAt(entry, 'id')?.replace(/^models\//, '')
  if (id === undefined) return undefined
  return {
    id,
    owner: nameAt(entry, 'owned_by') ?? owner,
    name: nameAt(entry, 'display_name') ?? id,
    createdMs: createdOf(entry),
  }
}

function nameAt(entry: unknown, key: string): string | undefined {
  const name = textAt(entry, key)
  const fits = name !== undefined && name !== '' && name.length <= MAX_NAME_LENGTH && !CONTROL.test(name)
  return fits ? name : undefined
}

/** The latest time that a date can have (ECMA-262, "Time Values"). */
const MAX_MS = 8.64e15

function createdOf(entry: unknown): number | undefined {
  const seconds = countAt(entry, 'created')
  const ms = seconds === undefined ? Date.parse(textAt(entry, 'created_at') ?? '') : seconds * 1000
  return Number.isFinite(ms) && Math.abs(ms) <= MAX_MS ? ms : undefined
}

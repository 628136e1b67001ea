import type { Json, JsonObject } from '#base/json.ts'
import { isJsonArray, isJsonObject, memberOf } from '#patch/json-object.ts'

/** An object to apply. */
export type Manifest = JsonObject & {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: JsonObject
}

/** One step into a value: a member of an object, or the item of a list whose member has a value. */
export type Step = string | { readonly [member: string]: string }

/** The value at a path; undefined if there is none. */
export function valueAt(value: Json | undefined, path: readonly Step[]): Json | undefined {
  return path.reduce<Json | undefined>((at, step) => (at === undefined ? undefined : stepInto(at, step)), value)
}

function stepInto(value: Json, step: Step): Json | undefined {
  if (typeof step === 'string') return isJsonObject(value) ? memberOf(value, step) : undefined
  if (!isJsonArray(value)) return undefined
  const members = Object.entries(step)
  return value.find((item) => isJsonObject(item) && members.every(([name, wanted]) => memberOf(item, name) === wanted))
}

/** For messages: `template.spec.containers[name=proxy].env`. */
export function textOfPath(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'string') return text === '' ? step : `${text}.${step}`
    return `${text}[${Object.entries(step).map(([name, value]) => `${name}=${value}`)}]`
  }, '')
}

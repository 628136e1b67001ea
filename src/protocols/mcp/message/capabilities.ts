import type { Json, JsonObject } from '#base/json.ts'
import { isObject } from './json-rpc.ts'

/** The capabilities of targets that affect routing, each with the letter that encodes it in session ids. */
export const CAPABILITIES = {
  tools: 't',
  prompts: 'p',
  resources: 'r',
  subscribe: 's',
  logging: 'l',
  completions: 'c',
  tasks: 'k',
} as const

export type Capability = keyof typeof CAPABILITIES

const NAMES = Object.keys(CAPABILITIES) as Capability[]

/** Every session has a set for each target, so equal ones are one. */
const SETS = new Map<string, ReadonlySet<Capability>>()

/** The capabilities with these letters. */
export function capabilitiesOf(letters: string): ReadonlySet<Capability> {
  const known = SETS.get(letters)
  if (known !== undefined) return known
  const names = NAMES.filter((name) => letters.includes(CAPABILITIES[name]))
  const set = new Set(names)
  SETS.set(letters, set)
  return set
}

/** Reads `capabilities` of an initialize result. */
export function readCapabilities(capabilities: unknown): ReadonlySet<Capability> {
  const found = new Set<Capability>()
  if (!isObject(capabilities)) return found
  for (const name of ['tools', 'prompts', 'resources', 'logging', 'completions', 'tasks'] as const) {
    if (isObject(capabilities[name])) found.add(name)
  }
  if (isObject(capabilities.resources) && capabilities.resources.subscribe === true) found.add('subscribe')
  return found
}

/**
 * The union of the capabilities of several targets. Only capabilities whose messages are routed are included: the gateway declares nothing
 * that it does not support.
 */
export function uniteCapabilities(all: readonly unknown[]): JsonObject {
  const united: Record<string, JsonObject> = {}
  for (const capabilities of all.filter(isObject)) {
    for (const [name, flags] of Object.entries(ROUTED)) {
      const offer = capabilities[name]
      if (!isObject(offer)) continue
      const set = flags.filter((flag) => offer[flag] === true).map((flag) => [flag, true] as const)
      united[name] = { ...united[name], ...Object.fromEntries(set) }
    }
    const { tasks, extensions } = capabilities
    if (isObject(tasks)) united.tasks = uniteObjects(tasks, united.tasks ?? {})
    if (isObject(extensions)) {
      const routed = Object.fromEntries(Object.entries(extensions).filter(([name]) => ROUTED_EXTENSIONS.has(name)))
      united.extensions = uniteObjects(routed, united.extensions ?? {})
    }
  }
  return united
}

/** Extensions whose methods are routed among several targets. */
const ROUTED_EXTENSIONS = new Set(['io.modelcontextprotocol/tasks', 'io.modelcontextprotocol/ui'])

/** The members of both, at every depth; of two values, the first one. */
function uniteObjects(one: JsonObject, other: JsonObject): JsonObject {
  const united: Record<string, Json> = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const same = one[name]
    united[name] = isObject(value) && isObject(same) ? uniteObjects(value, same) : value
  }
  return united
}

/** Without capabilities that need a session: log levels, tasks, subscriptions, and notifications on a separate stream (decision B66). */
export function sessionlessCapabilities(capabilities: JsonObject): JsonObject {
  const kept = Object.entries(capabilities).filter(([name]) => name !== 'logging' && name !== 'tasks')
  return Object.fromEntries(
    kept.map(([name, offer]) => {
      // Targets choose the names: that of a member of all objects is not one of these.
      const flags = Object.hasOwn(ROUTED, name) ? ROUTED[name] : undefined
      if (!isObject(offer) || flags === undefined) return [name, offer]
      return [name, Object.fromEntries(Object.entries(offer).filter(([flag]) => !flags.includes(flag)))]
    }),
  )
}

const ROUTED: Readonly<Record<string, readonly string[]>> = {
  tools: ['listChanged'],
  prompts: ['listChanged'],
  resources: ['listChanged', 'subscribe'],
  logging: [],
  completions: [],
}

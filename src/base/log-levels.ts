/** From the most to the least severe. */
export const LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type Level = (typeof LEVELS)[number]

/** The modules of the log, each with the subject of its messages. Names are those of the rooms. */
export const MODULES = {
  store: 'files with objects, and the state folder',
  control: 'problems of objects, and settings',
  instance: 'start, stop, listeners, readiness',
  workers: 'worker threads',
  proxy: 'traffic: endpoints, shared limits, bugs',
  observe: 'access log and metrics',
  apiserver: 'writes of objects through the API',
  deliver: 'plans of proxies, from their controller',
  mesh: 'the certificate of a proxy in a service mesh',
} as const
export type Module = keyof typeof MODULES

/** The lowest level that is written, for modules by name and for all others. */
export interface LogLevels extends Partial<Readonly<Record<Module, Level>>> {
  readonly others: Level
}

/** One entry of a filter that is wrong. */
export interface FilterFault {
  /** The gateway has no such level; or it has no such module, so the entry has no effect. */
  readonly unknown: 'level' | 'module'
  readonly message: string
}

/**
 * Reads `info`, `proxy=debug` or `warn,proxy=debug,store=error`: the level of all modules, and those of single ones. Of several entries for the
 * same modules, the last one applies. Without a level of all modules it is `info`.
 */
export function readLogFilter(text: string): { readonly levels: LogLevels; readonly faults: readonly FilterFault[] } {
  const levels: { -readonly [M in keyof LogLevels]: LogLevels[M] } = { others: 'info' }
  const faults: FilterFault[] = []
  for (const entry of text.split(',')) {
    const [first = '', second, ...rest] = entry.split('=').map((part) => part.trim())
    const name = second === undefined ? first : [second, ...rest].join('=')
    const level = LEVELS.find((known) => known === name)
    const module = second === undefined ? 'others' : moduleOf(first)
    if (level === undefined)
      faults.push({ unknown: 'level', message: `"${name}" is not a level; levels are ${listed(LEVELS)}` })
    else if (module !== undefined) levels[module] = level
    if (module !== undefined) continue
    const message = `"${first}" is not a module of the log; modules are ${listed(Object.keys(MODULES))}`
    faults.push({ unknown: 'module', message })
  }
  return { levels, faults }
}

/** The filter as text, without entries that have no effect. */
export function writeLogFilter({ others, ...modules }: LogLevels): string {
  return [others, ...Object.entries(modules).map(([module, level]) => `${module}=${level}`)].join(',')
}

function moduleOf(name: string): Module | undefined {
  return Object.hasOwn(MODULES, name) ? (name as Module) : undefined
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** What is measured besides the suites: the files of each folder, of which the first one runs unless the command line names another. */
const PARTS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  cel: ['run'],
  cluster: ['run'],
  config: ['run'],
  delivery: ['run'],
  guards: ['run', 'engines', 'stretches'],
  memory: ['run', 'mcp-streams', 'slow-readers', 'start-cost'],
  metrics: ['run'],
  passwords: ['run'],
  translation: ['run'],
}

export const PART_NAMES = Object.entries(PARTS).flatMap(([name, [, ...others]]) => [
  name,
  ...others.map((other) => `${name} ${other}`),
])

/**
 * Runs the part that the command line names, in this process. The part reads the arguments behind its name.
 *
 * @returns false if the command line names none
 */
export async function runPart(): Promise<boolean> {
  const [node = '', script = '', name = '', file = '', ...others] = process.argv
  const files = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  if (files === undefined) return false
  const isNamed = files.includes(file)
  process.argv = [node, script, ...(isNamed ? others : process.argv.slice(3))]
  await import(`./${name}/${isNamed ? file : files[0]}.ts`)
  return true
}

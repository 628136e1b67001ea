import { type ProcessVariable, VARIABLES } from '#api/process-variables.ts'

const INDENT = 6

/** The variables of a command, as the last part of its help. */
export function describeVariables(command: ProcessVariable['commands'][number]): string {
  const entries: readonly (readonly [string, ProcessVariable])[] = Object.entries(VARIABLES)
  const lines = entries
    .filter(([, { commands }]) => commands.includes(command))
    .map(([name, { meaning }]) => `  ${name}\n${' '.repeat(INDENT)}${meaning}`)
  return ['', 'Environment variables:', ...lines].join('\n')
}

import type { AddHelpTextContext } from 'commander'
import { type ProcessVariable, VARIABLES } from '#api/process-variables.ts'

const INDENT = 6

type Described = ProcessVariable['commands'][number]

/** The last part of the help of a command: its variables, wrapped at the width of a terminal. */
export function variablesHelp(command: Described): (context: AddHelpTextContext) => string {
  return ({ command: shown, error }) => {
    const { getOutHelpWidth, getErrHelpWidth } = shown.configureOutput()
    const width = (error ? getErrHelpWidth : getOutHelpWidth)?.()
    const wrap = (text: string) => (width === undefined ? text : shown.createHelp().boxWrap(text, width - INDENT))
    return describeVariables(command, wrap)
  }
}

/** The variables of a command. @param wrap breaks a text into lines */
export function describeVariables(command: Described, wrap = (text: string) => text): string {
  const entries: readonly (readonly [string, ProcessVariable])[] = Object.entries(VARIABLES)
  const lines = entries
    .filter(([, { commands }]) => commands.includes(command))
    .flatMap(([name, { meaning }]) => [
      `  ${name}`,
      ...wrap(meaning)
        .split('\n')
        .map((line) => `${' '.repeat(INDENT)}${line}`),
    ])
  return ['', 'Environment variables:', ...lines].join('\n')
}

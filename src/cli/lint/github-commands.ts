import type { FileProblem } from '#store/file-problem.ts'

const COMMANDS = { error: 'error', warning: 'warning', advice: 'notice' } as const satisfies Record<
  FileProblem['severity'],
  string
>

/** Problems as workflow commands of GitHub Actions, one line each: annotations at their lines. */
export function githubCommands(problems: readonly FileProblem[]): readonly string[] {
  return problems.map(({ severity, file, line, column, code, path, message }) => {
    const properties = [
      ...(file === '' ? [] : [`file=${property(file)}`]),
      ...(line === undefined ? [] : [`line=${line}`]),
      ...(column === undefined ? [] : [`col=${column}`]),
      `title=${property(code)}`,
    ]
    const text = path === '' ? message : `${path}: ${message}`
    return `::${COMMANDS[severity]} ${properties.join(',')}::${data(text)}`
  })
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

import { type Token, tokenize } from '../requirements/tokens.ts'

/** An import or a re-export as written. */
export interface Import {
  readonly specifier: string
  /** Erased at run time: `import type` or `export type`. */
  readonly typeOnly: boolean
  readonly line: number
}

/** The properties of a source text that the rules use. */
export interface Outline {
  readonly imports: readonly Import[]
  readonly defaultExports: readonly number[]
  readonly starExports: readonly number[]
  /** Variables of which a member is used, by line of the first use: `Buffer` in `Buffer.from`, but not in `bytes: Buffer`. With members, too: `Buffer.from`. */
  readonly objects: ReadonlyMap<string, number>
}

export function outline(source: string): Outline {
  const tokens = tokenize(source)
  const imports: Import[] = []
  const defaultExports: number[] = []
  const starExports: number[] = []
  const objects = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'name' || tokens[index - 1]?.text === '.') continue
    if (token.text === 'import') push(imports, readImport(tokens, index))
    else if (token.text === 'export') {
      push(imports, readReExport(tokens, index))
      const next = tokens[index + 1]
      if (next?.text === 'default') defaultExports.push(token.line)
      if (next?.text === '*') starExports.push(token.line)
    } else if (tokens[index + 1]?.text === '.') {
      for (const name of [token.text, `${token.text}.${tokens[index + 2]?.text}`]) {
        if (!objects.has(name)) objects.set(name, token.line)
      }
    }
  }
  return { imports, defaultExports, starExports, objects }
}

function push<T>(list: T[], value: T | undefined): void {
  if (value !== undefined) list.push(value)
}

function readImport(tokens: readonly Token[], index: number): Import | undefined {
  const { line } = tokens[index]!
  const next = tokens[index + 1]
  if (next === undefined || next.text === '.' || next.text === ':') return undefined
  if (next.kind === 'string') return { specifier: next.text, typeOnly: false, line }
  if (next.text === '(') {
    const argument = tokens[index + 2]
    return argument?.kind === 'string' ? { specifier: argument.text, typeOnly: false, line } : undefined
  }
  const typeOnly = next.text === 'type' && tokens[index + 2]?.text !== 'from' && tokens[index + 2]?.text !== ','
  const specifier = sourceAfter(tokens, index + 1)
  return specifier === undefined ? undefined : { specifier, typeOnly, line }
}

function readReExport(tokens: readonly Token[], index: number): Import | undefined {
  const typeOnly = tokens[index + 1]?.text === 'type'
  const list = tokens[index + (typeOnly ? 2 : 1)]?.text
  if (list !== '{' && list !== '*') return undefined
  const close = list === '*' ? index + 1 : tokens.findIndex((token, at) => at > index && token.text === '}')
  const from = list === '*' ? tokens.findIndex((token, at) => at > index && token.text === 'from') : close + 1
  const source = tokens[from + 1]
  if (tokens[from]?.text !== 'from' || source?.kind !== 'string') return undefined
  return { specifier: source.text, typeOnly, line: tokens[index]!.line }
}

function sourceAfter(tokens: readonly Token[], start: number): string | undefined {
  for (let at = start; at < tokens.length; at++) {
    const next = tokens[at + 1]
    if (tokens[at]!.text === 'from' && next?.kind === 'string') return next.text
    if (tokens[at]!.text === ';' || tokens[at]!.text === '=') return undefined
  }
  return undefined
}
